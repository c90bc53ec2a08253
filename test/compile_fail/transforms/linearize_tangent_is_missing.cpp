// EXPECT: linearize: there must be one tangent for each argument
#include <calque/calque.h>
namespace cq = calque;
void f(const cq::Array<float>& w) {
  auto [y, linear] = cq::linearize([](auto x, auto z) { return x * z; }, w, w);
  linear(w);
}
