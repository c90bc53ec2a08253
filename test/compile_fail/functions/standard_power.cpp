// EXPECT: write pow\(\.\.\.\), not std::pow
#include <calque/calque.h>
#include <calque/eigen.h>
namespace cq = calque;
using F = cq::Array<float>;
using D = cq::Array<double>;
#include <cmath>
void f() {
  (void)cq::jit([](auto x) { return std::pow(x, 2); })(F(1.0f));
}
