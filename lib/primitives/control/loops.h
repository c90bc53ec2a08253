#pragma once
// Loops over sub-graphs.
#include "primitives/core/rule.h"

namespace calque::primitives {

/// Operands: constants of the condition, constants of the body, initial carry.
struct While : Structural {
  static constexpr std::string_view name = "while";
  static constexpr std::string_view doc =
      "while(cond_consts..., body_consts..., carry...) {cond, body}: carry = body(body_consts, carry) as long as "
      "cond(cond_consts, carry) holds; a condition of shape S loops for each element: every carry's shape starts with "
      "S, elements whose condition is false keep their carry, and it ends when none is left";
  static constexpr FusionKind fusion_kind = FusionKind::loop;
  static constexpr int min_operands = 0;
  static constexpr int max_operands = -1;
  static constexpr int min_subgraphs = 2;
  static constexpr int max_subgraphs = 2;
  static constexpr std::array attributes{AttributeSpec{"body_consts", AttributeKind::integer},
                                         AttributeSpec{"cond_consts", AttributeKind::integer}};
  static constexpr bool jvp_computes_results = true;
  static void infer(Typing& t);
  static void evaluate(Evaluation& e);
  static void jvp(Jvp& j);
  using transpose = NotTransposable<
      "has no reverse-mode derivative, since the number of its steps is not known; use scan or fori_loop with static "
      "bounds, or give the function a custom_vjp">;
  static void batch(Batching& b);
};

/// Operands: constants, initial carry, then arrays (xs) whose leading dimension has extent `length`.
struct Scan : Structural {
  static constexpr std::string_view name = "scan";
  static constexpr std::string_view doc =
      "scan(consts..., carry..., xs...) {body}: (carry, y) = body(consts, carry, x) for each leading index of the xs, "
      "from the last if `reverse`; results are the last carry and the stacked ys";
  static constexpr FusionKind fusion_kind = FusionKind::loop;
  static constexpr int min_operands = 0;
  static constexpr int max_operands = -1;
  static constexpr int min_subgraphs = 1;
  static constexpr int max_subgraphs = 1;
  static constexpr std::array attributes{
      AttributeSpec{"carry", AttributeKind::integer}, AttributeSpec{"consts", AttributeKind::integer},
      AttributeSpec{"length", AttributeKind::integer}, AttributeSpec{"reverse", AttributeKind::boolean},
      AttributeSpec{"unroll", AttributeKind::integer}};
  static constexpr bool jvp_computes_results = true;
  static void infer(Typing& t);
  static void evaluate(Evaluation& e);
  static void jvp(Jvp& j);
  static void transpose(Transposition& t);
  static void batch(Batching& b);
};

}  // namespace calque::primitives
