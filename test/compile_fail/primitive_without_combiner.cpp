// EXPECT: this primitive combines values and has no combiner
// FLAGS: -Ilib
#include "primitives/reduction/reduce.h"
#include "primitives/registration.h"
namespace calque::primitives {
struct Forgotten : ReductionRule<kNumber> {
  static constexpr std::string_view name = "forgotten";
  static constexpr std::string_view doc = "reduces and does not say how";
  static void evaluate(Evaluation&) {}
  using jvp = ZeroDerivative;
  using transpose = NotLinear;
};
template void register_family<TypeList<Forgotten>>(std::span<const Registration>);
}  // namespace calque::primitives
