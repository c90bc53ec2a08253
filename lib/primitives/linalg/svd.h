#pragma once
#include "primitives/core/rule.h"
#include "primitives/linalg/spectrum.h"

namespace calque::primitives {

struct Svd : Structural {
  static constexpr std::string_view name = "svd";
  static constexpr std::string_view doc =
      "(u, s, vh), or s without vectors: each matrix a, m x n, is u diag(s) vh, where the k = min(m, n) columns of u "
      "and "
      "rows of vh are orthonormal and s is descending and not negative; of each column of adjoint(vh) the first of the "
      "components of greatest magnitude, but for a share of sqrt(eps), is real and positive; NaN of matrices with "
      "elements that are not finite";
  static constexpr int min_operands = 1;
  static constexpr int max_operands = 1;
  static constexpr std::array attributes{kPairedAttribute, kVectorsAttribute};
  static constexpr FusionKind fusion_kind = FusionKind::routine;
  static constexpr Routine routine = Routine::svd;
  static uint32_t routine_flags(const Attributes& attributes);
  static void infer(Typing& t);
  static void evaluate(Evaluation& e);
  static void jvp(Jvp& j);
  using transpose = NotLinear;
  static void batch(Batching& b);
};

}  // namespace calque::primitives
