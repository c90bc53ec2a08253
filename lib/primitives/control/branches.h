#pragma once
// Branches: one sub-graph of several runs. Sub-graphs are closed: values of the enclosing graph are passed as operands.
#include "primitives/core/rule.h"

namespace calque::primitives {

struct Cond : Structural {
  static constexpr std::string_view name = "cond";
  static constexpr std::string_view doc = "cond(pred, operands...) {true, false}: one sub-graph of the operands runs";
  static constexpr FusionKind fusion_kind = FusionKind::branch;
  static constexpr int min_operands = 1;
  static constexpr int max_operands = -1;
  static constexpr int min_subgraphs = 2;
  static constexpr int max_subgraphs = 2;
  static constexpr bool jvp_computes_results = true;
  static void infer(Typing& t);
  static void evaluate(Evaluation& e);
  static void jvp(Jvp& j);
  static void transpose(Transposition& t);
  static void batch(Batching& b);
};

struct Switch : Structural {
  static constexpr std::string_view name = "switch";
  static constexpr std::string_view doc =
      "switch(index, operands...) {branches}: the sub-graph of that number runs; the i32 index is clamped";
  static constexpr FusionKind fusion_kind = FusionKind::branch;
  static constexpr int min_operands = 1;
  static constexpr int max_operands = -1;
  static constexpr int min_subgraphs = 1;
  static constexpr int max_subgraphs = -1;
  static constexpr bool jvp_computes_results = true;
  static void infer(Typing& t);
  static void evaluate(Evaluation& e);
  static void jvp(Jvp& j);
  static void transpose(Transposition& t);
  static void batch(Batching& b);
};

}  // namespace calque::primitives
