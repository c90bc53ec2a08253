// EXPECT: a tracer has no value while tracing
#include <calque/calque.h>
namespace cq = calque;
void f(const cq::Array<double>& x) {
  cq::jit([](auto v) { return v() * 2.0; })(x);
}
