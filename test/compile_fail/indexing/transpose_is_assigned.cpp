// EXPECT: x = x.set\(i, y\)
#include <calque/calque.h>
namespace cq = calque;
void f(cq::Tracer<float> x, cq::Array<float> a) {
  (void)a;
  x.T()[0] = x;
}
