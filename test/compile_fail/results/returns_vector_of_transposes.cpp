// EXPECT: Eigen expression .* write .eval\(\)
#include <calque/calque.h>
#include <calque/eigen.h>
namespace cq = calque;
using V3 = Eigen::Matrix<cq::Tracer<double>, 3, 1>;
void f(const Eigen::Vector3d& v) {
  (void)cq::jit([](auto x) {
    V3 u = x;
    return std::vector{u.transpose()};
  })(v);
}
