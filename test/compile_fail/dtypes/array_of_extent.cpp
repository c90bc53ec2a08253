// EXPECT: write Array<double>::zeros\(\{10\}\) for ten elements
// FLAGS: -Werror=deprecated-declarations
#include <calque/calque.h>
namespace cq = calque;
cq::Array<double> f() {
  cq::Array<double> a(10);
  return a;
}
