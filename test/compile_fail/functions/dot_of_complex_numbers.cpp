// EXPECT: vdot\(x, y\), which conjugates x, or dot\(x, y\)
#include <calque/calque.h>
namespace cq = calque;
void f(const cq::Array<std::complex<double>>& x) {
  cq::jit([](auto v) { return v.dot(v); })(x);
}
