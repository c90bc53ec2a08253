// EXPECT: cannot hold a Jacobian; ravel it first
// LINES: 16
#include <calque/calque.h>
#include <calque/eigen.h>
namespace cq = calque;
template <class S>
struct State {
  Eigen::Matrix<S, 3, 1> p, v;
  S m;
};
void f(const State<double>& s) {
  cq::hessian([](const auto& t) { return t.v.dot(t.v); })(s);
}
