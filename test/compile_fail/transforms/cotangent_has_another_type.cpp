// EXPECT: vjp: the cotangent has another type than the value
#include <calque/calque.h>
namespace cq = calque;
void f(const cq::Array<float>& w) {
  auto [y, pullback] = cq::vjp([](auto x) { return x * x; }, w);
  pullback(1.0);
}
