#pragma once
#include "primitives/core/rule.h"
#include "primitives/linalg/spectrum.h"

namespace calque::primitives {

/// Of real matrices whose results are pairs of real numbers; only compilation makes it.
inline constexpr AttributeSpec kPairedResultsAttribute{"paired_results", AttributeKind::boolean, true};

struct Eig : Structural {
  static constexpr std::string_view name = "eig";
  static constexpr std::string_view doc =
      "(w, v), or w without vectors, both complex: a v = v diag(w) for each square matrix a; the columns of v have "
      "norm "
      "1, and the first of the components of greatest magnitude, but for a share of sqrt(eps), is real and positive; w "
      "is in no order; values of real matrices that are not real are pairs of conjugates, the one with the positive "
      "imaginary part before the other; NaN of matrices with elements that are not finite";
  static constexpr int min_operands = 1;
  static constexpr int max_operands = 1;
  static constexpr std::array attributes{kPairedAttribute, kPairedResultsAttribute, kVectorsAttribute};
  static constexpr FusionKind fusion_kind = FusionKind::routine;
  static constexpr Routine routine = Routine::eig;
  static uint32_t routine_flags(const Attributes& attributes);
  static void infer(Typing& t);
  static void evaluate(Evaluation& e);
  static void jvp(Jvp& j);
  using transpose = NotLinear;
  static void batch(Batching& b);
};

}  // namespace calque::primitives
