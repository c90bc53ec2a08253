// EXPECT: no constructors, no private or protected members
#include <calque/calque.h>
namespace cq = calque;
class P {
  double a = 1;

 public:
  double b = 2;
};
void f() {
  cq::jit([](auto p) { return p.b; })(P());
}
