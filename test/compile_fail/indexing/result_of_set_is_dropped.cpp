// EXPECT: x.set\(...\) leaves x as it is
// FLAGS: -Werror=unused-result
#include <calque/calque.h>
namespace cq = calque;
void f(cq::Tracer<float> x) { x.set(0, 5); }
