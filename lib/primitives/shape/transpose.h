#pragma once
#include "primitives/shape/view.h"

namespace calque::primitives {

struct Transpose : View {
  static constexpr std::string_view name = "transpose";
  static constexpr std::string_view doc = "result dimension i is operand dimension perm[i]";
  static constexpr bool always_reads = true;
  static constexpr int min_operands = 1;
  static constexpr int max_operands = 1;
  static constexpr std::array attributes{AttributeSpec{"perm", AttributeKind::integers}};
  static void infer(Typing& t);
  static void evaluate(Evaluation& e);
  static Scalar lower(Lowering& l, const Equation& e, size_t result, std::span<const Scalar> index);
  static void jvp(Jvp& j);
  static void transpose(Transposition& t);
  static void batch(Batching& b);
};

}  // namespace calque::primitives
