// EXPECT: root, fixed_point: f must return what x0 is
#include <calque/calque.h>
namespace cq = calque;
void f(double a) {
  (void)cq::root([](auto x, auto b) { return std::pair{x * x - b, x}; }, 1.0, a);
}
