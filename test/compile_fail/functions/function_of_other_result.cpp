// EXPECT: returns another type than the signature of this cq::Function says
#include <calque/calque.h>
namespace cq = calque;
cq::Function<cq::Array<double>(cq::Array<float>)> f() {
  return cq::jit([](auto x) { return x; });
}
