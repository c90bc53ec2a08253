// EXPECT: jacobiSvd\(\) .* use auto \[u, s, vh\] = cq::linalg::svd\(a\)
#include <calque/calque.h>
#include <calque/eigen.h>
namespace cq = calque;
void f(const Eigen::Matrix3d& a) {
  (void)cq::jit([](const cq::Matrix<double, 3, 3>& m) -> cq::Matrix<double, 3, 3> {
    return m.jacobiSvd(Eigen::ComputeFullU).matrixU();
  })(a);
}
