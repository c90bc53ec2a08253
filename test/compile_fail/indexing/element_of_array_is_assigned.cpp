// EXPECT: x = x.set\(i, y\)
#include <calque/calque.h>
namespace cq = calque;
void f(cq::Tracer<float> x, cq::Array<float> a) {
  (void)x;
  a.at(2) = 7.0;
}
