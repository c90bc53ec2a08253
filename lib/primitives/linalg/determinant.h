#pragma once
// Determinants of square matrices.
#include "primitives/core/rule.h"

namespace calque::primitives {

struct Det : Structural {
  static constexpr std::string_view name = "det";
  static constexpr std::string_view doc =
      "the determinant of each matrix: the product of the pivots of lu(a), times -1 if the order of its rows is odd; 1 "
      "of 0 x 0";
  static constexpr int min_operands = 1;
  static constexpr int max_operands = 1;
  static constexpr FusionKind fusion_kind = FusionKind::call;
  static void infer(Typing& t);
  static void evaluate(Evaluation& e);
  static void jvp(Jvp& j);
  using transpose = NotLinear;
  static void batch(Batching& b);
};

struct SlogDet : Structural {
  static constexpr std::string_view name = "slogdet";
  static constexpr std::string_view doc =
      "(sign, log): the determinant of each matrix is sign * exp(log), where log is real, the sum of the logarithms of "
      "the magnitudes of the pivots of lu(a); of singular matrices 0 and -infinity";
  static constexpr int min_operands = 1;
  static constexpr int max_operands = 1;
  static constexpr FusionKind fusion_kind = FusionKind::call;
  static void infer(Typing& t);
  static void evaluate(Evaluation& e);
  static void jvp(Jvp& j);
  using transpose = NotLinear;
  static void batch(Batching& b);
};

/// 1, or -1 where the row numbers [..., n] are an odd number of swaps away from 0, 1, 2 ...; of that dtype.
Value sign_of_order(const Writer& w, Value perm, DType dtype);

}  // namespace calque::primitives
