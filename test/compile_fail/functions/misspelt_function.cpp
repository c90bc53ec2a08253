// EXPECT: sinn
#include <calque/calque.h>
namespace cq = calque;
void f(const cq::Array<double>& x) {
  cq::jit([](auto v) { return sinn(v); })(x);
}
