#pragma once
// Control flow and call-like equations. Sub-graphs are closed: values of the enclosing graph are passed as operands.
#include "primitives/core/rule.h"

namespace calque::primitives {

/// The rules that all of them declare.
#define CALQUE_STRUCTURAL_RULES                            \
  static constexpr LowerKind kind = LowerKind::structural; \
  static void infer(Typing& t);                            \
  static void evaluate(Evaluation& e);                     \
  static void batch(Batching& b)

struct Cond : Rule {
  static constexpr std::string_view name = "cond";
  static constexpr std::string_view doc = "cond(pred, operands...) {true, false}: one sub-graph of the operands runs";
  static constexpr FusionKind fusion_kind = FusionKind::branch;
  static constexpr int min_operands = 1;
  static constexpr int max_operands = -1;
  static constexpr int min_subgraphs = 2;
  static constexpr int max_subgraphs = 2;
  CALQUE_STRUCTURAL_RULES;
  static constexpr bool jvp_computes_results = true;
  static void jvp(Jvp& j);
  static void transpose(Transposition& t);
};

struct Switch : Rule {
  static constexpr std::string_view name = "switch";
  static constexpr std::string_view doc =
      "switch(index, operands...) {branches}: the sub-graph of that number runs; the i32 index is clamped";
  static constexpr FusionKind fusion_kind = FusionKind::branch;
  static constexpr int min_operands = 1;
  static constexpr int max_operands = -1;
  static constexpr int min_subgraphs = 1;
  static constexpr int max_subgraphs = -1;
  CALQUE_STRUCTURAL_RULES;
  static constexpr bool jvp_computes_results = true;
  static void jvp(Jvp& j);
  static void transpose(Transposition& t);
};

/// Operands: constants of the condition, constants of the body, initial carry.
struct While : Rule {
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
  CALQUE_STRUCTURAL_RULES;
  static constexpr bool jvp_computes_results = true;
  static void jvp(Jvp& j);
  using transpose = NotTransposable<
      "has no reverse-mode derivative, since the number of its steps is not known; use scan or fori_loop with static "
      "bounds, or give the function a custom_vjp">;
};

/// Operands: constants, initial carry, then arrays (xs) whose leading dimension has extent `length`.
struct Scan : Rule {
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
  CALQUE_STRUCTURAL_RULES;
  static constexpr bool jvp_computes_results = true;
  static void jvp(Jvp& j);
  static void transpose(Transposition& t);
};

struct Call : Rule {
  static constexpr std::string_view name = "call";
  static constexpr std::string_view doc = "call(operands...) {body}: the sub-graph, under a name";
  static constexpr FusionKind fusion_kind = FusionKind::call;
  static constexpr int min_operands = 0;
  static constexpr int max_operands = -1;
  static constexpr int min_subgraphs = 1;
  static constexpr int max_subgraphs = 1;
  static constexpr std::array attributes{AttributeSpec{"name", AttributeKind::text}};
  CALQUE_STRUCTURAL_RULES;
  static constexpr bool jvp_computes_results = true;
  static void jvp(Jvp& j);
  using transpose = NotLinear;
};

struct Checkpoint : Rule {
  static constexpr std::string_view name = "checkpoint";
  static constexpr std::string_view doc =
      "checkpoint(operands...) {body}: the sub-graph, whose values derivatives compute again instead of keeping";
  static constexpr FusionKind fusion_kind = FusionKind::call;
  static constexpr int min_operands = 0;
  static constexpr int max_operands = -1;
  static constexpr int min_subgraphs = 1;
  static constexpr int max_subgraphs = 1;
  CALQUE_STRUCTURAL_RULES;
  static constexpr bool jvp_computes_results = true;
  static void jvp(Jvp& j);
  static void transpose(Transposition& t);
};

/// In the jvp rule, the tangent of a value has the type of the value, integers included.
struct CustomJvp : Rule {
  static constexpr std::string_view name = "custom_jvp";
  static constexpr std::string_view doc =
      "custom_jvp(operands...) {body, jvp}: body, whose derivative is jvp of (operands, tangents) to (results, "
      "tangents)";
  static constexpr FusionKind fusion_kind = FusionKind::call;
  static constexpr int min_operands = 0;
  static constexpr int max_operands = -1;
  static constexpr int min_subgraphs = 2;
  static constexpr int max_subgraphs = 2;
  CALQUE_STRUCTURAL_RULES;
  static constexpr bool jvp_computes_results = true;
  static void jvp(Jvp& j);
  using transpose = NotLinear;
};

struct CustomVjp : Rule {
  static constexpr std::string_view name = "custom_vjp";
  static constexpr std::string_view doc =
      "custom_vjp(operands...) {body, fwd, bwd}: body, whose derivative is fwd of operands to (results, residuals) and "
      "bwd of (residuals, cotangents) to cotangents of the operands";
  static constexpr FusionKind fusion_kind = FusionKind::call;
  static constexpr int min_operands = 0;
  static constexpr int max_operands = -1;
  static constexpr int min_subgraphs = 3;
  static constexpr int max_subgraphs = 3;
  CALQUE_STRUCTURAL_RULES;
  static constexpr bool jvp_computes_results = true;
  static void jvp(Jvp& j);
  using transpose = NotLinear;
};

/// The linear equation that forward mode produces for custom_vjp, for reverse mode to transpose. It cannot be
/// evaluated.
struct CustomLinear : Rule {
  static constexpr std::string_view name = "custom_linear";
  static constexpr std::string_view doc =
      "custom_linear(residuals..., tangents...) {bwd}: the linear function whose transposed is bwd of (residuals, "
      "cotangents) to cotangents of the operands; it cannot be evaluated";
  static constexpr FusionKind fusion_kind = FusionKind::call;
  static constexpr int min_operands = 0;
  static constexpr int max_operands = -1;
  static constexpr int min_subgraphs = 1;
  static constexpr int max_subgraphs = 1;
  static constexpr std::array attributes{AttributeSpec{"residuals", AttributeKind::integer}};
  static constexpr std::string_view reason =
      "a function with a custom_vjp rule has no forward-mode derivative; give it a custom_jvp rule instead";
  using jvp = NotDifferentiable<"a function with a custom_vjp rule has no forward-mode derivative">;
  static void transpose(Transposition& t);
  CALQUE_STRUCTURAL_RULES;
};

/// Marks a value of an enclosing trace that a function with a custom rule, or its rule, captured: the rule has no
/// derivative by it, and that of the function itself need not be the one that the rule is there to define. Its location
/// is that of the captured value. With an empty `by` it marks a value of a rule of the library beyond which the rule
/// has no derivatives, and `value` is the message.
struct Captured : Rule {
  static constexpr std::string_view name = "captured";
  static constexpr std::string_view doc = "x itself, captured by the custom rule `by`, which has no derivative by it";
  static constexpr FusionKind fusion_kind = FusionKind::elementwise;
  static constexpr int min_operands = 1;
  static constexpr int max_operands = 1;
  static constexpr std::array attributes{AttributeSpec{"by", AttributeKind::text},
                                         AttributeSpec{"value", AttributeKind::text}};
  static constexpr LowerKind kind = LowerKind::mapped;
  static void infer(Typing& t);
  static void evaluate(Evaluation& e);
  static Scalar lower(Lowering& l, const Equation& e, size_t result, std::span<const Scalar> index);
  /// Throws GradError.
  static void jvp(Jvp& j);
  using transpose = NotLinear;
  static void batch(Batching& b) { batch_same(b); }
};

/// optimization_barrier(x, after...): prevents CSE of rematerialized values with the original ones.
struct OptimizationBarrier : Rule {
  static constexpr std::string_view name = "optimization_barrier";
  static constexpr std::string_view doc =
      "optimization_barrier(x, after...): x itself, as if it were not known to be, once the others are there";
  static constexpr FusionKind fusion_kind = FusionKind::elementwise;
  static constexpr int min_operands = 1;
  static constexpr int max_operands = -1;
  static constexpr LowerKind kind = LowerKind::mapped;
  static void infer(Typing& t);
  static void evaluate(Evaluation& e);
  static Scalar lower(Lowering& l, const Equation& e, size_t result, std::span<const Scalar> index);
  static void jvp(Jvp& j);
  static void transpose(Transposition& t);
  static void batch(Batching& b);
};

using ControlList = TypeList<Cond, Switch, While, Scan, Call, Checkpoint, CustomJvp, CustomVjp, CustomLinear,
                             OptimizationBarrier, Captured>;

}  // namespace calque::primitives
