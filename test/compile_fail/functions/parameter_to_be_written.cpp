// EXPECT: no match(ing function)? for call to
#include <calque/calque.h>
#include <calque/eigen.h>
namespace cq = calque;
using F = cq::Array<float>;
using D = cq::Array<double>;
void f() {
  (void)cq::jit([](auto& x) {
    x = x * 2.0f;
    return x;
  })(F(1.0f));
}
