// EXPECT: while_loop: the body returns another type than the carry
#include <calque/calque.h>
#include <calque/eigen.h>
namespace cq = calque;
using V3 = cq::Vector<double, 3>;
void f(const Eigen::Vector3d& x) {
  cq::jit([](const V3& a) -> V3 {
    return cq::while_loop([](auto s) { return s.norm() < 1.0; }, [](auto s) { return s.norm(); }, a);
  })(x);
}
