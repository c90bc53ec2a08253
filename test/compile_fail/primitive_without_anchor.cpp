// EXPECT: this primitive is an anchor op and does not say which loops its kernel has
// FLAGS: -Ilib
#include "primitives/registration.h"
namespace calque::primitives {
struct Forgotten : Structural {
  static constexpr std::string_view name = "forgotten";
  static constexpr std::string_view doc = "has a kernel of unknown loops";
  static constexpr int min_operands = 1;
  static constexpr int max_operands = 1;
  static constexpr FusionKind fusion_kind = FusionKind::anchor;
  static void infer(Typing&) {}
  static void evaluate(Evaluation&) {}
  using jvp = ZeroDerivative;
  using transpose = NotLinear;
  static void batch(Batching&) {}
};
template void register_family<TypeList<Forgotten>>(std::span<const Registration>);
}  // namespace calque::primitives
