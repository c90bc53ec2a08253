// EXPECT: sum|nodiscard
// FLAGS: -Werror=unused-result
#include <calque/calque.h>
namespace cq = calque;
void f(const cq::Array<double>& x) { sum(x); }
