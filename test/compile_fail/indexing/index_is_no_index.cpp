// EXPECT: an index is an integer
#include <calque/calque.h>
namespace cq = calque;
void f(cq::Tracer<float> x, cq::Array<float> a) {
  (void)a;
  (void)x.at(0, 1.5);
}
