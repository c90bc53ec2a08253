// EXPECT: this primitive has no batching rule
// FLAGS: -Ilib
#include "primitives/registration.h"
namespace calque::primitives {
struct Forgotten : Rule {
  static constexpr std::string_view name = "forgotten";
  static constexpr std::string_view doc = "has everything but one rule";
  static constexpr int min_operands = 1;
  static constexpr int max_operands = 1;
  static constexpr LowerKind kind = LowerKind::structural;
  static constexpr FusionKind fusion_kind = FusionKind::branch;
  static void infer(Typing&) {}
  static void evaluate(Evaluation&) {}
  using jvp = ZeroDerivative;
  using transpose = NotLinear;
};
template void register_family<TypeList<Forgotten>>(std::span<const Registration>);
}  // namespace calque::primitives
