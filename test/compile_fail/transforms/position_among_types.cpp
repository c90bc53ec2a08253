// EXPECT: cq::argnums<1>
#include <calque/calque.h>
namespace cq = calque;
void f(const cq::Array<double>& x) {
  cq::grad([](auto a, auto b) { return sum(a * b); }, 1)(x, 2.0F);
}
