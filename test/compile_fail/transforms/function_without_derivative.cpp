// EXPECT: tangent
// FLAGS: -Ilib
#include "primitives/registry.h"
namespace calque::primitives {
struct Forgotten : Elementwise<Forgotten, 1, kFloat> {
  static constexpr std::string_view name = "forgotten";
  static constexpr std::string_view doc = "an elementwise function without a tangent";
  template <class T>
  static T element(T x) {
    return x;
  }
};
void f(Jvp& j) { Forgotten::jvp(j); }
}  // namespace calque::primitives
