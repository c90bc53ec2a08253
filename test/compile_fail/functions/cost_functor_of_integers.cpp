// EXPECT: the blocks of a cost functor are of floating-point numbers
#include <calque/calque.h>
namespace cq = calque;
void f(const cq::Array<int>& x) {
  (void)cq::functor<1>([](const auto* x, auto* r) { r[0] = x[0]; })(x);
}
