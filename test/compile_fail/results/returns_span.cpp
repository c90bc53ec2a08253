// EXPECT: std::span.*return a std::vector
#include <calque/calque.h>
namespace cq = calque;
void f(double t) {
  (void)cq::jit([](auto x) {
    const std::vector<double> numbers{1, 2, 3};
    return std::pair{x, std::span<const double>(numbers)};
  })(t);
}
