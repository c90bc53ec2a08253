// EXPECT: custom_vjp: backward must take \(residuals, cotangent
#include <calque/calque.h>
namespace cq = calque;
void f(const cq::Array<float>& w) {
  auto square = cq::custom_vjp([](auto x) { return x * x; }, [](auto x) { return std::pair{x * x, x}; },
                               [](auto x) { return std::tuple{2.0 * x}; });
  square(w);
}
