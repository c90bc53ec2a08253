// EXPECT: value's type does not promote
#include <calque/calque.h>
namespace cq = calque;
void f(cq::Tracer<float> x, cq::Array<float> a) {
  (void)a;
  (void)x.set(0, cq::Array<double>{1});
}
