// EXPECT: custom_vjp: backward must return a std::tuple with a cotangent for each argument
#include <calque/calque.h>
namespace cq = calque;
void f(const cq::Array<float>& w) {
  auto square = cq::custom_vjp([](auto x) { return x * x; }, [](auto x) { return std::pair{x * x, x}; },
                               [](auto x, auto ybar) { return 2.0 * x * ybar; });
  square(w);
}
