#pragma once
// Calls of a sub-graph.
#include "primitives/core/rule.h"

namespace calque::primitives {

struct Call : Structural {
  static constexpr std::string_view name = "call";
  static constexpr std::string_view doc = "call(operands...) {body}: the sub-graph, under a name";
  static constexpr FusionKind fusion_kind = FusionKind::call;
  static constexpr int min_operands = 0;
  static constexpr int max_operands = -1;
  static constexpr int min_subgraphs = 1;
  static constexpr int max_subgraphs = 1;
  static constexpr std::array attributes{AttributeSpec{"name", AttributeKind::text}};
  static constexpr bool jvp_computes_results = true;
  static void infer(Typing& t);
  static void evaluate(Evaluation& e);
  static void jvp(Jvp& j);
  using transpose = NotLinear;
  static void batch(Batching& b);
};

struct Checkpoint : Structural {
  static constexpr std::string_view name = "checkpoint";
  static constexpr std::string_view doc =
      "checkpoint(operands...) {body}: the sub-graph, whose values derivatives compute again instead of keeping";
  static constexpr FusionKind fusion_kind = FusionKind::call;
  static constexpr int min_operands = 0;
  static constexpr int max_operands = -1;
  static constexpr int min_subgraphs = 1;
  static constexpr int max_subgraphs = 1;
  static constexpr bool jvp_computes_results = true;
  static void infer(Typing& t);
  static void evaluate(Evaluation& e);
  static void jvp(Jvp& j);
  static void transpose(Transposition& t);
  static void batch(Batching& b);
};

}  // namespace calque::primitives
