// EXPECT: struct with Eigen members has no first axis .* cq::ravel
// LINES: 13
#include <calque/calque.h>
#include <calque/eigen.h>
namespace cq = calque;
template <class S>
struct State {
  Eigen::Matrix<S, 3, 1> p, v;
  S m;
};
void f(const State<double>& s) {
  cq::jit([](auto t) {
    auto [c, ys] = cq::scan([](auto carry, auto) { return std::pair{carry, carry}; }, t, cq::arange<double>(3));
    return c;
  })(s);
}
