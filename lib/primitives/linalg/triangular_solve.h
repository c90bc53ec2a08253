#pragma once
#include "primitives/core/rule.h"
#include "primitives/linalg/paired.h"

namespace calque::primitives {

/// What triangular_solve reads of its matrices.
struct TriangularForm {
  bool lower = true;
  bool transpose = false;
  bool unit_diagonal = false;

  TriangularForm() = default;
  TriangularForm(bool lower, bool transpose, bool unit_diagonal)
      : lower(lower), transpose(transpose), unit_diagonal(unit_diagonal) {}
  explicit TriangularForm(const Attributes& attributes);
  Attributes attributes() const;
  /// Whether the matrix that is solved with, transposed if `transpose`, is lower triangular: the first row comes first.
  bool forward() const { return lower != transpose; }
};

struct TriangularSolve : Structural {
  static constexpr std::string_view name = "triangular_solve";
  static constexpr std::string_view doc =
      "the x with t * x = b for each pair of matrices, where t is the `lower` or upper triangle of a, with ones on its "
      "diagonal if `unit_diagonal`, transposed (not conjugated) if `transpose`; of a, nothing else is read; a zero on "
      "the diagonal divides";
  static constexpr int min_operands = 2;
  static constexpr int max_operands = 2;
  static constexpr std::array attributes{AttributeSpec{"lower", AttributeKind::boolean}, kPairedAttribute,
                                         AttributeSpec{"transpose", AttributeKind::boolean},
                                         AttributeSpec{"unit_diagonal", AttributeKind::boolean}};
  static constexpr FusionKind fusion_kind = FusionKind::routine;
  static constexpr Routine routine = Routine::triangular_solve;
  static uint32_t routine_flags(const Attributes& attributes) {
    const TriangularForm form(attributes);
    return (form.lower ? RoutineFlag::lower : 0) | (form.transpose ? RoutineFlag::transpose : 0) |
           (form.unit_diagonal ? RoutineFlag::unit_diagonal : 0);
  }
  static void infer(Typing& t);
  static void evaluate(Evaluation& e);
  static void jvp(Jvp& j);
  static void transpose(Transposition& t);
  static void batch(Batching& b);
};

/// Appends triangular_solve(a, b).
Value emit_triangular_solve(const Writer& w, Value a, Value b, const TriangularForm& form);

}  // namespace calque::primitives
