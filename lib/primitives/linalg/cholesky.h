#pragma once
#include "primitives/core/rule.h"
#include "primitives/linalg/paired.h"

namespace calque::primitives {

struct Cholesky : Structural {
  static constexpr std::string_view name = "cholesky";
  static constexpr std::string_view doc =
      "the lower triangular l with positive diagonal and a = l * adjoint(l), for each matrix a, of which the lower "
      "triangle and the real part of the diagonal are read; zeros above the diagonal; NaN in the lower triangle of a "
      "matrix that is not positive definite";
  static constexpr int min_operands = 1;
  static constexpr int max_operands = 1;
  static constexpr std::array attributes{kPairedAttribute};
  static constexpr FusionKind fusion_kind = FusionKind::routine;
  static constexpr Routine routine = Routine::cholesky;
  static void infer(Typing& t);
  static void evaluate(Evaluation& e);
  static void jvp(Jvp& j);
  using transpose = NotLinear;
  static void batch(Batching& b);
};

}  // namespace calque::primitives
