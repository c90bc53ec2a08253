// EXPECT: custom_vjp: forward must return std::pair
#include <calque/calque.h>
namespace cq = calque;
void f(const cq::Array<float>& w) {
  auto square = cq::custom_vjp([](auto x) { return x * x; }, [](auto x) { return std::pair{cq::cast<double>(x), x}; },
                               [](auto x, auto ybar) { return std::tuple{2.0 * x * ybar}; });
  square(w);
}
