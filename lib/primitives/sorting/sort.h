#pragma once
// The order of elements along the last dimension.
#include "primitives/core/rule.h"

namespace calque::primitives {

/// Keys of equal shapes, compared element by element: those of the first key, where they are equal those of the
/// second, and so on.
struct Sort : Structural {
  static constexpr std::string_view name = "sort";
  static constexpr std::string_view doc =
      "(sorted keys..., perm): element i of a row is that whose keys come i-th of the first `limit` in order; values: "
      "the keys in this order are results; indices: the numbers of the elements in their rows, as i32, are the last "
      "result; -0 equals +0, NaN equals NaN and is greater than numbers; equal ones keep their order, also if "
      "descending";
  static constexpr int min_operands = 1;
  static constexpr int max_operands = -1;
  static constexpr std::array attributes{
      AttributeSpec{"descending", AttributeKind::boolean}, AttributeSpec{"indices", AttributeKind::boolean},
      AttributeSpec{"limit", AttributeKind::integer}, AttributeSpec{"values", AttributeKind::boolean}};
  static constexpr FusionKind fusion_kind = FusionKind::routine;
  static constexpr Routine routine = Routine::sort;
  static constexpr DefinedBits defined_bits = DefinedBits::always;
  static constexpr bool jvp_computes_results = true;
  static uint32_t routine_flags(const Attributes& attributes);
  static void infer(Typing& t);
  static void evaluate(Evaluation& e);
  static void jvp(Jvp& j);
  using transpose = NotLinear;
  static void batch(Batching& b);
};

using SortingList = TypeList<Sort>;

}  // namespace calque::primitives
