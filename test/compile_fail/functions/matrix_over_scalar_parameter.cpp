// EXPECT: Eigen member over the struct.s template parameter, .* not supported yet; .* State<Eigen::Vector3d>
#include <calque/calque.h>
#include <calque/eigen.h>
namespace cq = calque;
template <class S>
struct State {
  Eigen::Matrix<S, 3, 1> p;
};
void f(const State<double>& s) {
  (void)cq::jit([](const auto& q) { return q.p.sum(); })(s);
}
