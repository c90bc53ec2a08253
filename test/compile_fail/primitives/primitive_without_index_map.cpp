// EXPECT: this primitive is mapped and has no lowering rule
// FLAGS: -Ilib
#include "primitives/registry.h"
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
void f(std::span<const Registration> table) { register_primitives(TypeList<Forgotten>{}, table); }
}  // namespace calque::primitives
