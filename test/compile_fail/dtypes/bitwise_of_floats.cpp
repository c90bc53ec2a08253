// EXPECT: operator & needs integers or bool
#include <calque/calque.h>
namespace cq = calque;
void f(cq::Tracer<float> x, cq::Array<float> a) {
  (void)x;
  (void)a;
  (void)(x & true);
}
