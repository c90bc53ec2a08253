// EXPECT: (no match for .operator=.|no viable overloaded .=.)
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
  State<double> s{1, 2};
  s = cq::jit([](const auto& t) { return State{t.x + t.v, t.v}; })(s);
}
