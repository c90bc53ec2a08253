// EXPECT: an Array cannot hold a Tracer
#include <calque/calque.h>
namespace cq = calque;
void f(cq::Tracer<float> x, cq::Array<float> a) {
  (void)a;
  a += x;
}
