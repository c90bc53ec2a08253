// EXPECT: Eigen member .* is not supported yet; let the parameter be the whole matrix
#include <calque/calque.h>
#include <calque/eigen.h>
namespace cq = calque;
template <class S>
struct P {
  std::optional<Eigen::Matrix<S, 3, 1>> a;
  S b;
};
void f(const P<double>& p) {
  (void)cq::jit([](const auto& q) { return q.b; })(p);
}
