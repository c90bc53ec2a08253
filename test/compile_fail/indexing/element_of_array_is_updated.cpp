// EXPECT: x = x.add\(i, y\)
#include <calque/calque.h>
namespace cq = calque;
void f(cq::Tracer<float> x, cq::Array<int> a) {
  (void)x;
  a[1] <<= 3;
}
