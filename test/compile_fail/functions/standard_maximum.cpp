// EXPECT: write max\(\.\.\.\), not std::max\(\.\.\.\)
#include <calque/calque.h>
namespace cq = calque;
void f(const cq::Array<double>& x) {
  cq::jit([](auto v) { return std::max(v, 0.0); })(x);
}
