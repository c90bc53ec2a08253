// EXPECT: Eigen expression .* write .eval\(\)
#include <calque/calque.h>
#include <calque/eigen.h>
namespace cq = calque;
void f(double t) {
  (void)cq::jit([](auto x) {
    const Eigen::Vector3d u(1, 2, 3);
    return std::tuple{x, u + u};
  })(t);
}
