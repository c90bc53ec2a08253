#pragma once
#include "primitives/core/rule.h"
#include "primitives/linalg/paired.h"

namespace calque::primitives {

struct Lu : Structural {
  static constexpr std::string_view name = "lu";
  static constexpr std::string_view doc =
      "(packed, perm): a with its rows in the order perm (i32) is l * u, where l is below the diagonal of packed, with "
      "ones on its own, and u is the rest; partial pivoting: the pivot is the first of those of greatest magnitude in "
      "its column (complex: |re| + |im|), where NaN is less than any number; a column of zeros is not divided by its "
      "pivot";
  static constexpr int min_operands = 1;
  static constexpr int max_operands = 1;
  static constexpr std::array attributes{kPairedAttribute};
  static constexpr FusionKind fusion_kind = FusionKind::routine;
  static constexpr Routine routine = Routine::lu;
  static void infer(Typing& t);
  static void evaluate(Evaluation& e);
  static void jvp(Jvp& j);
  using transpose = NotLinear;
  static void batch(Batching& b);
};

/// What `lu` has made of a matrix.
struct LuFactors {
  Value packed, perm;
};

/// Appends lu(a).
LuFactors emit_lu(const Writer& w, Value a);
/// The lower triangular solve and the upper one with packed factors.
Value emit_lower_solve(const Writer& w, Value packed, Value b, bool transpose = false);
Value emit_upper_solve(const Writer& w, Value packed, Value b, bool transpose = false);

}  // namespace calque::primitives
