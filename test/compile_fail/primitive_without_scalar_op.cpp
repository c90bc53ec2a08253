// EXPECT: this primitive is elementwise and code generation does not know what to emit
// FLAGS: -Ilib
#include "primitives/registration.h"
namespace calque::primitives {
struct Forgotten : Elementwise<Forgotten, 1, kInteger> {
  static constexpr std::string_view name = "forgotten";
  static constexpr std::string_view doc = "names no operation";
  template <class T>
  static T element(T x) {
    return x;
  }
  using jvp = ZeroDerivative;
};
template void register_family<TypeList<Forgotten>>(std::span<const Registration>);
}  // namespace calque::primitives
