// EXPECT: EigenSolver .* use auto \[w, v\] = cq::linalg::eig\(a\)
#include <calque/calque.h>
#include <calque/eigen.h>
namespace cq = calque;
void f(const Eigen::Matrix3d& a) {
  (void)cq::jit([](const cq::Matrix<double, 3, 3>& m) -> cq::Matrix<double, 3, 3> {
    return Eigen::EigenSolver<cq::Matrix<double, 3, 3>>(m).pseudoEigenvectors();
  })(a);
}
