// EXPECT: write sin\(\.\.\.\), not std::sin\(\.\.\.\)
#include <calque/calque.h>
namespace cq = calque;
void f(const cq::Array<double>& x) {
  cq::jit([](auto v) { return std::sin(v); })(x);
}
