// EXPECT: a mask cannot be an index
#include <calque/calque.h>
namespace cq = calque;
void f(cq::Tracer<float> x, cq::Array<float> a) {
  (void)a;
  (void)x[x > 0];
}
