// EXPECT: write cross\(x, y\)
#include <calque/calque.h>
namespace cq = calque;
void f(const cq::Array<double>& x) {
  cq::jit([](auto v) { return v.cross(v); })(x);
}
