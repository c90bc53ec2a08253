#pragma once
// Functions with derivatives given by the user.
#include "primitives/core/rule.h"

namespace calque::primitives {

/// In the jvp rule, the tangent of a value has the type of the value, integers included.
struct CustomJvp : Structural {
  static constexpr std::string_view name = "custom_jvp";
  static constexpr std::string_view doc =
      "custom_jvp(operands...) {body, jvp}: body, whose derivative is jvp of (operands, tangents) to (results, "
      "tangents)";
  static constexpr FusionKind fusion_kind = FusionKind::call;
  static constexpr int min_operands = 0;
  static constexpr int max_operands = -1;
  static constexpr int min_subgraphs = 2;
  static constexpr int max_subgraphs = 2;
  static constexpr bool jvp_computes_results = true;
  static void infer(Typing& t);
  static void evaluate(Evaluation& e);
  static void jvp(Jvp& j);
  using transpose = NotLinear;
  static void batch(Batching& b);
};

struct CustomVjp : Structural {
  static constexpr std::string_view name = "custom_vjp";
  static constexpr std::string_view doc =
      "custom_vjp(operands...) {body, fwd, bwd}: body, whose derivative is fwd of operands to (results, residuals) and "
      "bwd of (residuals, cotangents) to cotangents of the operands";
  static constexpr FusionKind fusion_kind = FusionKind::call;
  static constexpr int min_operands = 0;
  static constexpr int max_operands = -1;
  static constexpr int min_subgraphs = 3;
  static constexpr int max_subgraphs = 3;
  static constexpr bool jvp_computes_results = true;
  static void infer(Typing& t);
  static void evaluate(Evaluation& e);
  static void jvp(Jvp& j);
  using transpose = NotLinear;
  static void batch(Batching& b);
};

/// The linear equation that forward mode produces for custom_vjp, for reverse mode to transpose. It cannot be
/// evaluated.
struct CustomLinear : Structural {
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
  static void infer(Typing& t);
  static void evaluate(Evaluation& e);
  using jvp = NotDifferentiable<"a function with a custom_vjp rule has no forward-mode derivative">;
  static void transpose(Transposition& t);
  static void batch(Batching& b);
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

}  // namespace calque::primitives
