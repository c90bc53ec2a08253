// EXPECT: (cannot convert .*Tracer<float>.*to .int.|no viable conversion from .*Tracer<float>)
#include <calque/calque.h>
#include <calque/eigen.h>
namespace cq = calque;
using F = cq::Array<float>;
using D = cq::Array<double>;
void f() {
  (void)cq::jit([](auto x) {
    int n = sum(x);
    return x * n;
  })(F(1.0f));
}
