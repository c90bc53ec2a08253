#pragma once
// The order of elements along the last dimension.
#include <string_view>

#include "primitives/core/rule.h"

namespace calque::primitives {

/// The elements of x [..., n] at the numbers perm [..., k] in their rows; `mode`: of the gather.
Value take_from_rows(const Writer& w, Value x, Value perm, std::string_view mode);

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

/// The inverse of a gather along rows: stores without reading, in parallel, since no two elements of a row have the
/// same position. Of what can be sorted, so not of complex numbers.
struct Permute : Structural {
  static constexpr std::string_view name = "permute";
  static constexpr std::string_view doc =
      "permute(x, positions): result[..., positions[..., i]] = x[..., i] with rows of `limit` elements; the positions "
      "of a row, integers, are a permutation of 0, 1 ... n - 1; elements whose position is not below `limit` are "
      "dropped";
  static constexpr int min_operands = 2;
  static constexpr int max_operands = 2;
  static constexpr std::array attributes{AttributeSpec{"limit", AttributeKind::integer}};
  static constexpr FusionKind fusion_kind = FusionKind::anchor;
  static constexpr Anchor anchor = Anchor::permute;
  static constexpr DefinedBits defined_bits = DefinedBits::always;
  static void infer(Typing& t);
  static void evaluate(Evaluation& e);
  static void jvp(Jvp& j);
  static void transpose(Transposition& t);
  static void batch(Batching& b);
};

using SortingList = TypeList<Sort, Permute>;

}  // namespace calque::primitives
