// EXPECT: argnums: the function is called with fewer arguments
#include <calque/calque.h>
namespace cq = calque;
void f(const cq::Array<float>& w) {
  cq::grad([](auto x) { return sum(x); }, cq::argnums<1>)(w);
}
