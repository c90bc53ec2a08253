// EXPECT: write x\.set\(i, v\), not x\.at\(i\)\.set\(v\)
#include <calque/calque.h>
namespace cq = calque;
void f(const cq::Array<double>& x) {
  cq::jit([](auto v) { return v.at(0).set(2.0); })(x);
}
