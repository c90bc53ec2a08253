// EXPECT: Eigen expression .* write .eval\(\)
// LINES: 13
#include <calque/calque.h>
#include <calque/eigen.h>
namespace cq = calque;
using V3 = Eigen::Matrix<cq::Tracer<double>, 3, 1>;
void f(const Eigen::Vector3d& v) {
  const auto twice = [](auto x) {
    V3 u = x;
    return 2.0 * u;
  };
  (void)cq::jit([twice](auto x) { return cq::cond(sum(x) > 0, twice, twice, x); })(v);
}
