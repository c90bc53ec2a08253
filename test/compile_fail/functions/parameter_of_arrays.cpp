// EXPECT: the function cannot be called with tracers of these arguments; parameters are auto, cq::Tracer<T>
#include <calque/calque.h>
#include <calque/eigen.h>
namespace cq = calque;
using F = cq::Array<float>;
using D = cq::Array<double>;
void f() {
  (void)cq::jit([](const F& x) { return x * 2.0f; })(F(1.0f));
}
