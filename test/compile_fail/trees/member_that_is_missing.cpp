// EXPECT: has no member named .velocity|no member named 'velocity'
#include <calque/calque.h>
#include <calque/eigen.h>
namespace cq = calque;
using F = cq::Array<float>;
using D = cq::Array<double>;
template <class S>
struct State {
  S x, v;
};
void f() {
  (void)cq::jit([](const auto& t) { return t.velocity; })(State<double>{1, 2});
}
