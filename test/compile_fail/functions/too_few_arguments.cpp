// EXPECT: no match for call|no matching function for call
#include <calque/calque.h>
namespace cq = calque;
void f(const cq::Array<double>& x) {
  cq::jit([](auto a, auto b) { return a + b; })(x);
}
