// EXPECT: call it, as in grad\(f\)\(x\)
// FLAGS: -Werror=unused-result
#include <calque/calque.h>
namespace cq = calque;
void f() {
  cq::grad([](auto x) { return x; });
}
