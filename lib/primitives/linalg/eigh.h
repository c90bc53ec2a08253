#pragma once
#include "primitives/core/rule.h"
#include "primitives/linalg/spectrum.h"

namespace calque::primitives {

struct Eigh : Structural {
  static constexpr std::string_view name = "eigh";
  static constexpr std::string_view doc =
      "(w, v), or w without vectors: each Hermitian matrix a, of which the lower triangle and the real part of the "
      "diagonal are read, is v diag(w) adjoint(v), where w is real and ascending and v is unitary; of each column of v "
      "the first of the components of greatest magnitude, but for a share of sqrt(eps), is real and positive; NaN of "
      "matrices with elements that are not finite";
  static constexpr int min_operands = 1;
  static constexpr int max_operands = 1;
  static constexpr std::array attributes{kPairedAttribute, kVectorsAttribute};
  static constexpr FusionKind fusion_kind = FusionKind::routine;
  static constexpr Routine routine = Routine::eigh;
  static uint32_t routine_flags(const Attributes& attributes);
  static void infer(Typing& t);
  static void evaluate(Evaluation& e);
  static void jvp(Jvp& j);
  using transpose = NotLinear;
  static void batch(Batching& b);
};

}  // namespace calque::primitives
