#pragma once
#include "primitives/core/rule.h"

namespace calque::primitives {

struct Qr : Structural {
  static constexpr std::string_view name = "qr";
  static constexpr std::string_view doc =
      "(q, r): each matrix a, m x n, is q * r, where q, m x k with k = min(m, n), has orthonormal columns and r is "
      "upper "
      "triangular; by Householder's reflections: r's element (i, i) has the sign opposite to what it replaces, and a "
      "column with nothing below its diagonal is not reflected; its diagonal is real";
  static constexpr int min_operands = 1;
  static constexpr int max_operands = 1;
  static constexpr FusionKind fusion_kind = FusionKind::routine;
  static constexpr Routine routine = Routine::qr;
  static void infer(Typing& t);
  static void evaluate(Evaluation& e);
  static void jvp(Jvp& j);
  using transpose = NotLinear;
  static void batch(Batching& b);
};

}  // namespace calque::primitives
