#pragma once
#include "primitives/shape/view.h"

namespace calque::primitives {

struct Diagonal : View {
  static constexpr std::string_view name = "diagonal";
  static constexpr std::string_view doc =
      "the elements whose index along `axis2` is that along `axis1` plus `offset`, as the last dimension; the other "
      "dimensions keep their order";
  static constexpr bool always_reads = true;
  static constexpr int min_operands = 1;
  static constexpr int max_operands = 1;
  static constexpr std::array attributes{AttributeSpec{"axis1", AttributeKind::integer},
                                         AttributeSpec{"axis2", AttributeKind::integer},
                                         AttributeSpec{"offset", AttributeKind::integer}};
  static void infer(Typing& t);
  static void evaluate(Evaluation& e);
  static Scalar lower(Lowering& l, const Equation& e, size_t result, std::span<const Scalar> index);
  static void jvp(Jvp& j);
  static void transpose(Transposition& t);
  static void batch(Batching& b);
};

/// The elements of a diagonal are those at first1 + i along axis1 and first2 + i along axis2, for i < length.
struct DiagonalRange {
  size_t axis1, axis2;
  int64_t first1, first2, length;

  DiagonalRange(const Attributes& attributes, const Shape& shape);
};

}  // namespace calque::primitives
