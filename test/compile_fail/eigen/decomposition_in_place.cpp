// EXPECT: does not replace its matrix
#include <calque/calque.h>
#include <calque/eigen.h>
namespace cq = calque;
void f(const Eigen::Matrix3d& a) {
  (void)cq::jit([](const cq::Matrix<double, 3, 3>& m) -> cq::Matrix<double, 3, 3> {
    return Eigen::LLT<Eigen::Ref<cq::Matrix<double, 3, 3>>>(m).matrixLLT();
  })(a);
}
