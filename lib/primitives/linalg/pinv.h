#pragma once
#include "primitives/core/rule.h"

namespace calque::primitives {

struct Pinv : Structural {
  static constexpr std::string_view name = "pinv";
  static constexpr std::string_view doc =
      "the pseudo-inverse v diag(1 / s) adjoint(u) of each matrix, by svd(a), of the singular values that are greater "
      "than `rcond` times the greatest; NaN of matrices with elements that are not finite";
  static constexpr int min_operands = 1;
  static constexpr int max_operands = 1;
  static constexpr std::array attributes{AttributeSpec{"rcond", AttributeKind::floating}};
  static constexpr FusionKind fusion_kind = FusionKind::call;
  static void infer(Typing& t);
  static void evaluate(Evaluation& e);
  static void jvp(Jvp& j);
  using transpose = NotLinear;
  static void batch(Batching& b);
};

/// The same, of the results of svd.
Value pinv_of(const Writer& w, Value u, Value s, Value vh, double rcond);

}  // namespace calque::primitives
