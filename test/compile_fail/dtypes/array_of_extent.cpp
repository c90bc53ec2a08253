// EXPECT: write Array<double>::zeros\(\{10\}\) for ten elements
#include <calque/calque.h>
namespace cq = calque;
cq::Array<double> f() {
  cq::Array<double> a(10);
  return a;
}
