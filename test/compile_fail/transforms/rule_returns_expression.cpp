// EXPECT: Eigen expression .* write .eval\(\)
#include <calque/calque.h>
#include <calque/eigen.h>
namespace cq = calque;
using V3 = Eigen::Matrix<cq::Tracer<double>, 3, 1>;
void f(const Eigen::Vector3d& v) {
  (void)cq::custom_jvp([](auto x) { return x; },
                       [](auto primals, auto tangents) {
                         V3 u = std::get<0>(tangents);
                         return std::pair{std::get<0>(primals), u + u};
                       })(v);
}
