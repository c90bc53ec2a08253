// EXPECT: linearize: a tangent has another type than its argument
#include <calque/calque.h>
namespace cq = calque;
void f(const cq::Array<float>& w, const cq::Array<double>& d) {
  auto [y, linear] = cq::linearize([](auto x) { return x * x; }, w);
  linear(d);
}
