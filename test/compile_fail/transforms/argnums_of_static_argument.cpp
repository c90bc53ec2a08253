// EXPECT: argnums: an argument to differentiate by holds no arrays
#include <calque/calque.h>
namespace cq = calque;
void f(const cq::Array<float>& w) {
  cq::grad([](auto x, int n) { return sum(x) * n; }, cq::argnums<1>)(w, cq::static_arg(2));
}
