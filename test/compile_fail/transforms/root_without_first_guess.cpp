// EXPECT: f cannot be called with x0 and the parameters; the first guess x0 comes behind f
#include <calque/calque.h>
namespace cq = calque;
void f(double a) {
  (void)cq::root([](auto x, auto b) { return x * x - b; }, a);
}
