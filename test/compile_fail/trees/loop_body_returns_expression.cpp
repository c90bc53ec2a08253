// EXPECT: unevaluated Eigen expression .* write .eval\(\)
#include <calque/calque.h>
#include <calque/eigen.h>
namespace cq = calque;
using V3 = cq::Vector<double, 3>;
void f(const Eigen::Vector3d& x) {
  cq::jit([](const V3& a) -> V3 { return cq::fori_loop(0, 3, [](auto, const V3& s) { return s * 0.5; }, a); })(x);
}
