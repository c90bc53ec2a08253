// EXPECT: where\(cq::iota\(n\) < j, row, 0\.0\).*dynamic_slice
#include <calque/calque.h>
namespace cq = calque;
void f(const cq::Array<double>& x) {
  cq::jit([](auto a, auto j) { return sum(a.at(0, cq::range(0, j))); })(x, 2);
}
