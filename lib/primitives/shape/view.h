#pragma once
// Views: each element of the result is one element of an operand (or a constant), selected by index arithmetic alone.
// All are linear: the tangent is the same view of the operand's tangent, and the transpose moves cotangents back to the
// operand's positions.
#include "primitives/core/rule.h"

namespace calque::primitives {

/// Base of views. A view declares typing, evaluation, index map and batching, and `always_reads`.
struct View : Rule {
  static constexpr LowerKind kind = LowerKind::mapped;
  static constexpr FusionKind fusion_kind = FusionKind::view;
};

/// Evaluation of a view with an affine index map: copies operand 0, from element `base` on, with these strides.
void copy_view(Evaluation& e, std::span<const int64_t> strides, int64_t base = 0);

/// The derivative of a view with one operand: the same view of the operand's tangent.
void jvp_same_view(Jvp& j);

}  // namespace calque::primitives
