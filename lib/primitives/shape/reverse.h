#pragma once
#include "primitives/shape/view.h"

namespace calque::primitives {

struct Reverse : View {
  static constexpr std::string_view name = "reverse";
  static constexpr std::string_view doc = "the elements backwards along `axes`";
  static constexpr bool always_reads = true;
  static constexpr int min_operands = 1;
  static constexpr int max_operands = 1;
  static constexpr std::array attributes{AttributeSpec{"axes", AttributeKind::integers}};
  static void infer(Typing& t);
  static void evaluate(Evaluation& e);
  static Scalar lower(Lowering& l, const Equation& e, size_t result, std::span<const Scalar> index);
  static void jvp(Jvp& j);
  static void transpose(Transposition& t);
  static void batch(Batching& b);
};

}  // namespace calque::primitives
