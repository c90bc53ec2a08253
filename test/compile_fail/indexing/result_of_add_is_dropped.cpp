// EXPECT: x.add\(...\) leaves x as it is
// FLAGS: -Werror=unused-result
#include <calque/calque.h>
namespace cq = calque;
void f(cq::Tracer<float> x) { x.add(0, 5); }
