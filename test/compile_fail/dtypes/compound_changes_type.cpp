// EXPECT: change the element type
#include <calque/calque.h>
namespace cq = calque;
void f(cq::Tracer<float> x, cq::Array<float> a) {
  (void)a;
  x += cq::Array<double>{1};
}
