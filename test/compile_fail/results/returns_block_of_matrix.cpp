// EXPECT: Eigen expression .* write .eval\(\)
#include <calque/calque.h>
#include <calque/eigen.h>
namespace cq = calque;
using V3 = Eigen::Matrix<cq::Tracer<double>, 3, 1>;
void f(const Eigen::Vector3d& v) {
  (void)cq::vmap([](auto x) {
    V3 u = x;
    return u.segment<2>(0);
  })(v);
}
