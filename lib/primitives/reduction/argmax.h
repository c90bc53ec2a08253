#pragma once
// Indices of extrema along an axis.
#include "primitives/core/rule.h"

namespace calque::primitives {

struct ArgRule : Rule {
  static constexpr int min_operands = 1;
  static constexpr int max_operands = 1;
  static constexpr std::array attributes{AttributeSpec{"axis", AttributeKind::integer},
                                         AttributeSpec{"dtype", AttributeKind::dtype}};
  static constexpr LowerKind kind = LowerKind::structural;
  static constexpr FusionKind fusion_kind = FusionKind::reduction;
  static void infer(Typing& t);
  using jvp = ZeroDerivative;
  using transpose = NotLinear;
  static void batch(Batching& b) { batch_along_axis(b); }
};

struct Argmax : ArgRule {
  static constexpr std::string_view name = "argmax";
  static constexpr std::string_view doc =
      "the index of the greatest along `axis`, of the first NaN if there is one, of the first among equals";
  static constexpr Combiner combiner = Combiner::argmax;
  static constexpr DefinedBits defined_bits = DefinedBits::always;
  static void evaluate(Evaluation& e);
};

struct Argmin : ArgRule {
  static constexpr std::string_view name = "argmin";
  static constexpr std::string_view doc =
      "the index of the least along `axis`, of the first NaN if there is one, of the first among equals";
  static constexpr Combiner combiner = Combiner::argmin;
  static constexpr DefinedBits defined_bits = DefinedBits::always;
  static void evaluate(Evaluation& e);
};

}  // namespace calque::primitives
