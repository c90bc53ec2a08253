// EXPECT: this primitive has no fusion kind `static constexpr FusionKind fusion_kind`
// FLAGS: -Ilib
#include "primitives/registration.h"
namespace calque::primitives {
struct Forgotten : Rule {
  static constexpr std::string_view name = "forgotten";
  static constexpr std::string_view doc = "does not say how it is fused";
  static constexpr int min_operands = 1;
  static constexpr int max_operands = 1;
  static constexpr LowerKind kind = LowerKind::structural;
  static void infer(Typing&) {}
  static void evaluate(Evaluation&) {}
  using jvp = ZeroDerivative;
  using transpose = NotLinear;
  static void batch(Batching&) {}
};
template void register_family<TypeList<Forgotten>>(std::span<const Registration>);
}  // namespace calque::primitives
