// EXPECT: parameters are auto, cq::Tracer<T>, cq::Matrix<T, R, C>
#include <calque/calque.h>
#include <calque/eigen.h>
namespace cq = calque;
void f(const Eigen::Vector3d& x) {
  cq::jit([](const Eigen::Vector3d& v) { return v; })(x);
}
