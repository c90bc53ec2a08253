// EXPECT: where: the condition must be of bool
#include <calque/calque.h>
namespace cq = calque;
void f(cq::Tracer<float> x, cq::Array<float> a) {
  (void)x;
  (void)a;
  (void)(where(a, x, 1));
}
