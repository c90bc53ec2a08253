// EXPECT: operator\*|nodiscard
// FLAGS: -Werror=unused-result
#include <calque/calque.h>
namespace cq = calque;
void f(const cq::Array<double>& x) { x * 2.0; }
