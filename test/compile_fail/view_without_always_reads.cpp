// EXPECT: this primitive is a view and does not say `static constexpr bool always_reads`
// FLAGS: -Ilib
#include "primitives/registration.h"
#include "primitives/shape/view.h"
namespace calque::primitives {
struct Forgotten : View {
  static constexpr std::string_view name = "forgotten";
  static constexpr std::string_view doc = "is a view that might read nothing";
  static constexpr int min_operands = 1;
  static constexpr int max_operands = 1;
  static void infer(Typing&) {}
  static void evaluate(Evaluation&) {}
  static Scalar lower(Lowering& l, const Equation&, size_t, std::span<const Scalar> index) {
    return l.operand(0, index);
  }
  static void batch(Batching&) {}
  using jvp = ZeroDerivative;
  using transpose = NotLinear;
};
template void register_family<TypeList<Forgotten>>(std::span<const Registration>);
}  // namespace calque::primitives
