// EXPECT: Eigen expression .* write .eval\(\)
#include <calque/calque.h>
#include <calque/eigen.h>
namespace cq = calque;
void f(double t) {
  (void)cq::jit([](auto x) {
    double numbers[3] = {1, 2, 3};
    return std::pair{x, Eigen::Map<Eigen::Vector3d>(numbers)};
  })(t);
}
