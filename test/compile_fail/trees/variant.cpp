// EXPECT: neither arrays nor a static value
#include <variant>

#include <calque/calque.h>
#include <calque/eigen.h>
namespace cq = calque;
using F = cq::Array<float>;
using D = cq::Array<double>;
void f() {
  (void)cq::jit([](const auto& v) { return std::get<0>(v); })(std::variant<F, D>(F(1.0f)));
}
