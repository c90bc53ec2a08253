#pragma once
#include "primitives/shape/view.h"

namespace calque::primitives {

struct Concatenate : View {
  static constexpr std::string_view name = "concatenate";
  static constexpr std::string_view doc = "the operands one after the other along `axis`; other extents agree";
  static constexpr bool always_reads = false;
  static constexpr int min_operands = 1;
  static constexpr int max_operands = -1;
  static constexpr std::array attributes{AttributeSpec{"axis", AttributeKind::integer}};
  static void infer(Typing& t);
  static void evaluate(Evaluation& e);
  static Scalar lower(Lowering& l, const Equation& e, size_t result, std::span<const Scalar> index);
  static void jvp(Jvp& j);
  static void transpose(Transposition& t);
  static void batch(Batching& b);
};

}  // namespace calque::primitives
