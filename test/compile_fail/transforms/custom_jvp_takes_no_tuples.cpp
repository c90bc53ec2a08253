// EXPECT: custom_jvp: the rule must take \(primals, tangents\)
#include <calque/calque.h>
namespace cq = calque;
void f(const cq::Array<float>& w) {
  auto square = cq::custom_jvp([](auto x) { return x * x; }, [](auto x) { return std::pair{x, x}; });
  square(w);
}
