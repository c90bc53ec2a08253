#pragma once
#include "primitives/core/rule.h"
#include "primitives/linalg/lu.h"

namespace calque::primitives {

struct LuSolve : Structural {
  static constexpr std::string_view name = "lu_solve";
  static constexpr std::string_view doc =
      "the x with a * x = b for each pair of matrices, or transposed(a) * x = b if `transpose` (not conjugated), by "
      "the "
      "factors (packed, perm) of lu(a); a itself is read by derivatives alone, in which the factors are constants";
  static constexpr int min_operands = 4;
  static constexpr int max_operands = 4;
  static constexpr std::array attributes{AttributeSpec{"transpose", AttributeKind::boolean}};
  static constexpr FusionKind fusion_kind = FusionKind::call;
  static void infer(Typing& t);
  static void evaluate(Evaluation& e);
  static void jvp(Jvp& j);
  static void transpose(Transposition& t);
  static void batch(Batching& b);
};

/// Appends lu_solve(a, factors, b).
Value emit_lu_solve(const Writer& w, Value a, const LuFactors& factors, Value b, bool transpose = false);

}  // namespace calque::primitives
