// EXPECT: Eigen expression .* write .eval\(\)
#include <calque/calque.h>
#include <calque/eigen.h>
namespace cq = calque;
void f(double t) {
  (void)cq::jit([](auto x) {
    const double numbers[] = {1, 2, 3};
    return std::tuple{x, Eigen::Vector3d::NullaryExpr([&](Eigen::Index i) { return numbers[i]; })};
  })(t);
}
