// EXPECT: custom_jvp: the rule must return std::pair
#include <calque/calque.h>
namespace cq = calque;
void f(const cq::Array<float>& w) {
  auto square =
      cq::custom_jvp([](auto x) { return x * x; },
                     [](auto primals, auto tangents) { return std::get<0>(primals) * std::get<0>(tangents); });
  square(w);
}
