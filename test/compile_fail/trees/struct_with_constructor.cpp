// EXPECT: no constructors, no private or protected members
#include <calque/calque.h>
namespace cq = calque;
struct P {
  double a;
  explicit P(double x) : a(x) {}
};
void f() {
  cq::jit([](auto p) { return p.a; })(P(1));
}
