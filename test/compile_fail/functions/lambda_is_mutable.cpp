// EXPECT: no match(ing function)? for call to
#include <calque/calque.h>
#include <calque/eigen.h>
namespace cq = calque;
using F = cq::Array<float>;
using D = cq::Array<double>;
void f() {
  (void)cq::jit([n = 0](auto x) mutable {
    ++n;
    return x * n;
  })(F(1.0f));
}
