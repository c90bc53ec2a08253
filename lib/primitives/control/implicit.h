#pragma once
// Solutions of equations, whose derivatives are those of the equations, not of the steps that solve them.
#include "primitives/core/rule.h"

namespace calque::primitives {

/// The tangent of a solution x of f(x, operands) = 0 is that of the implicit function theorem, the dx with (df/dx) dx =
/// -df. As the rule reads x itself, derivatives of every order follow.
struct CustomRoot : Structural {
  static constexpr std::string_view name = "custom_root";
  static constexpr std::string_view doc =
      "custom_root(operands...) {solve, f, tangent_solve}: the values x of solve, for which f(x, operands) is zero, "
      "and "
      "its further ones, which have no derivative; tangent_solve of (b, x, operands) gives the tangents of x for which "
      "that of f is b";
  static constexpr FusionKind fusion_kind = FusionKind::call;
  static constexpr int min_operands = 0;
  static constexpr int max_operands = -1;
  static constexpr int min_subgraphs = 3;
  static constexpr int max_subgraphs = 3;
  static void infer(Typing& t);
  static void evaluate(Evaluation& e);
  static void jvp(Jvp& j);
  using transpose = NotLinear;
  static void batch(Batching& b);
};

/// Linear in b. The tangent is the solution for the right-hand side db - dA x, the transpose that of the transposed
/// system, by the last two sub-graphs; without them there is no reverse mode.
struct LinearSolve : Structural {
  static constexpr std::string_view name = "linear_solve";
  static constexpr std::string_view doc =
      "linear_solve(constants..., b...) {solve, matvec[, vecmat, transpose_solve]}: the values x of solve of "
      "(constants, b), for which matvec of (constants, x) is b, and its further ones, which have no derivative; vecmat "
      "is the transpose of matvec, which transpose_solve solves for";
  static constexpr FusionKind fusion_kind = FusionKind::call;
  static constexpr int min_operands = 0;
  static constexpr int max_operands = -1;
  static constexpr int min_subgraphs = 2;
  static constexpr int max_subgraphs = 4;
  static void infer(Typing& t);
  static void evaluate(Evaluation& e);
  static void jvp(Jvp& j);
  static void transpose(Transposition& t);
  static void batch(Batching& b);
};

}  // namespace calque::primitives
