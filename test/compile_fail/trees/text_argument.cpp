// EXPECT: neither arrays nor a static value
#include <calque/calque.h>
namespace cq = calque;
void f(const cq::Array<double>& x) {
  cq::jit([](auto v, auto) { return v; })(x, "text");
}
