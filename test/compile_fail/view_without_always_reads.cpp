// EXPECT: this primitive is a view and does not say `static constexpr bool always_reads`
// FLAGS: -Ilib
#include "primitives/registry.h"
#include "primitives/shape/shape.h"
namespace calque::primitives {
struct Forgotten : Rule {
  static constexpr std::string_view name = "forgotten";
  static constexpr std::string_view doc = "is a view that might read nothing";
  static constexpr int min_operands = 1;
  static constexpr int max_operands = 1;
  CALQUE_VIEW_RULES;
  using jvp = ZeroDerivative;
  using transpose = NotLinear;
};
void f(std::span<const Registration> table) { register_primitives(TypeList<Forgotten>{}, table); }
}  // namespace calque::primitives
