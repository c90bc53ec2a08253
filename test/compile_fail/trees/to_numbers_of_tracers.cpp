// EXPECT: a tracer has no numbers yet; convert the result of the jitted function
#include <calque/calque.h>
#include <calque/eigen.h>
namespace cq = calque;
template <class S>
struct State {
  Eigen::Matrix<S, 3, 1> p, v;
  S m;
};
void f(const State<double>& s) {
  cq::jit([](auto t) { return cq::to<State<double>>(t); })(s);
}
