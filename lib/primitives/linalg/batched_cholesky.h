#pragma once
#include "primitives/core/rule.h"

namespace calque::primitives {

/// As cholesky of real matrices, for many matrices that a kernel factors in the lanes of vectors. Only compilation
/// makes it, after derivatives and batching; its own rules are those of cholesky.
struct BatchedCholesky : Structural {
  static constexpr std::string_view name = "batched_cholesky";
  static constexpr std::string_view doc =
      "cholesky of each of a batch of real matrices [b, n, n], computed by a kernel in place of a routine; "
      "add_transpose: of a + transpose(a), of which both triangles are read";
  static constexpr int min_operands = 1;
  static constexpr int max_operands = 1;
  static constexpr std::array attributes{AttributeSpec{"add_transpose", AttributeKind::boolean}};
  static constexpr FusionKind fusion_kind = FusionKind::anchor;
  static constexpr Anchor anchor = Anchor::cholesky;
  static void infer(Typing& t);
  static void evaluate(Evaluation& e);
  static void jvp(Jvp& j);
  using transpose = NotLinear;
  static void batch(Batching& b);
};

}  // namespace calque::primitives
