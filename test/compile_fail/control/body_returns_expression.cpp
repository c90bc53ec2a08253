// EXPECT: Eigen expression .* write .eval\(\)
#include <calque/calque.h>
#include <calque/eigen.h>
namespace cq = calque;
using V3 = Eigen::Matrix<cq::Tracer<double>, 3, 1>;
void f(const Eigen::Vector3d& v) {
  (void)cq::jit([](auto x) {
    return cq::fori_loop(
        0, 3,
        [](auto, auto s) {
          V3 u = s;
          return u * 2.0;
        },
        x);
  })(v);
}
