// EXPECT: bool has no operator -
#include <calque/calque.h>
namespace cq = calque;
void f(cq::Tracer<float> x, cq::Array<float> a) {
  (void)a;
  (void)((x > 0) - (x < 1));
}
