#pragma once
// Windows at run-time starts, which are clamped so that the window lies inside.
#include "primitives/shape/view.h"

namespace calque::primitives {

struct DynamicSlice : View {
  static constexpr std::string_view name = "dynamic_slice";
  static constexpr std::string_view doc =
      "dynamic_slice(x, start...): a window of extents `sizes`; each rank-0 integer start is clamped to "
      "[0, extent - size]";
  static constexpr bool always_reads = false;
  static constexpr int min_operands = 1;
  static constexpr int max_operands = -1;
  static constexpr std::array attributes{AttributeSpec{"sizes", AttributeKind::integers}};
  static void infer(Typing& t);
  static void evaluate(Evaluation& e);
  static Scalar lower(Lowering& l, const Equation& e, size_t result, std::span<const Scalar> index);
  static void jvp(Jvp& j);
  static void transpose(Transposition& t);
  static void batch(Batching& b);
};

struct DynamicUpdateSlice : View {
  static constexpr std::string_view name = "dynamic_update_slice";
  static constexpr std::string_view doc =
      "dynamic_update_slice(x, update, start...): x with the window at start, clamped to lie inside, replaced by "
      "update";
  static constexpr int update_operand = 1;
  static constexpr bool always_reads = false;
  static constexpr int min_operands = 2;
  static constexpr int max_operands = -1;
  static void infer(Typing& t);
  static void evaluate(Evaluation& e);
  static Scalar lower(Lowering& l, const Equation& e, size_t result, std::span<const Scalar> index);
  static void jvp(Jvp& j);
  static void transpose(Transposition& t);
  static void batch(Batching& b);
};

}  // namespace calque::primitives
