// EXPECT: this primitive is mapped and has no lowering rule
// FLAGS: -Ilib
#include "primitives/registration.h"
namespace calque::primitives {
struct Forgotten : Rule {
  static constexpr std::string_view name = "forgotten";
  static constexpr std::string_view doc = "is a view and does not say of what";
  static constexpr int min_operands = 1;
  static constexpr int max_operands = 1;
  static constexpr LowerKind kind = LowerKind::mapped;
  static constexpr FusionKind fusion_kind = FusionKind::branch;
  static void infer(Typing&) {}
  static void evaluate(Evaluation&) {}
};
template void register_family<TypeList<Forgotten>>(std::span<const Registration>);
}  // namespace calque::primitives
