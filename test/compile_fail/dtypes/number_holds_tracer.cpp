// EXPECT: a C\+\+ number cannot hold a Tracer
#include <calque/calque.h>
namespace cq = calque;
auto f = cq::jit([](auto x) {
  float total = 0;
  for (int i = 0; i < 3; ++i) total += x[i];
  return cq::zeros<float>({});
});
void g() { f(cq::Array<float>{1, 2, 3}); }
