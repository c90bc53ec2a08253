#pragma once
#include "primitives/shape/view.h"

namespace calque::primitives {

struct Iota : View {
  static constexpr std::string_view name = "iota";
  static constexpr std::string_view doc = "the index along `axis`, converted from i64 to `dtype` as `convert` does";
  static constexpr bool always_reads = false;
  static constexpr int min_operands = 0;
  static constexpr int max_operands = 0;
  static constexpr std::array attributes{AttributeSpec{"axis", AttributeKind::integer},
                                         AttributeSpec{"dtype", AttributeKind::dtype},
                                         AttributeSpec{"shape", AttributeKind::integers}};
  static void infer(Typing& t);
  static void evaluate(Evaluation& e);
  static Scalar lower(Lowering& l, const Equation& e, size_t result, std::span<const Scalar> index);
  using jvp = ZeroDerivative;
  using transpose = NotLinear;
  static void batch(Batching& b);
};

}  // namespace calque::primitives
