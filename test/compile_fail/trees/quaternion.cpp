// EXPECT: keep a quaternion's coeffs\(\), a transform's matrix\(\)
#include <calque/calque.h>
#include <calque/eigen.h>
namespace cq = calque;
void f(const Eigen::Isometry3d& pose) {
  cq::jit([](const auto& t) { return t; })(pose);
}
