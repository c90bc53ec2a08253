#pragma once
#include "primitives/core/rule.h"

namespace calque::primitives {

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

}  // namespace calque::primitives
