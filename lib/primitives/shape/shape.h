#pragma once
// Views: each element of the result is one element of an operand (or a constant), selected by index arithmetic alone.
#include "primitives/core/rule.h"

namespace calque::primitives {

/// The rules that all views declare: typing, evaluation, index map and batching.
#define CALQUE_VIEW_RULES                                                                            \
  static constexpr LowerKind kind = LowerKind::mapped;                                               \
  static constexpr FusionKind fusion_kind = FusionKind::view;                                        \
  static void infer(Typing& t);                                                                      \
  static void evaluate(Evaluation& e);                                                               \
  static Scalar lower(Lowering& l, const Equation& e, size_t result, std::span<const Scalar> index); \
  static void batch(Batching& b)

struct Iota : Rule {
  static constexpr std::string_view name = "iota";
  static constexpr std::string_view doc = "the index along `axis`, converted from i64 to `dtype` as `convert` does";
  static constexpr bool always_reads = false;
  static constexpr int min_operands = 0;
  static constexpr int max_operands = 0;
  static constexpr std::array attributes{AttributeSpec{"axis", AttributeKind::integer},
                                         AttributeSpec{"dtype", AttributeKind::dtype},
                                         AttributeSpec{"shape", AttributeKind::integers}};
  CALQUE_VIEW_RULES;
  using jvp = ZeroDerivative;
  using transpose = NotLinear;
};

struct Broadcast : Rule {
  static constexpr std::string_view name = "broadcast";
  static constexpr std::string_view doc =
      "operand dimension i becomes result dimension axes[i] (strictly increasing) of the same extent, or is stretched "
      "from extent 1; other dimensions repeat";
  static constexpr bool always_reads = true;
  static constexpr int min_operands = 1;
  static constexpr int max_operands = 1;
  static constexpr std::array attributes{AttributeSpec{"axes", AttributeKind::integers},
                                         AttributeSpec{"shape", AttributeKind::integers}};
  CALQUE_VIEW_RULES;
  static void jvp(Jvp& j);
  static void transpose(Transposition& t);
};

struct Reshape : Rule {
  static constexpr std::string_view name = "reshape";
  static constexpr std::string_view doc = "the same elements in row-major order under another shape";
  static constexpr bool always_reads = true;
  static constexpr int min_operands = 1;
  static constexpr int max_operands = 1;
  static constexpr std::array attributes{AttributeSpec{"shape", AttributeKind::integers}};
  CALQUE_VIEW_RULES;
  static void jvp(Jvp& j);
  static void transpose(Transposition& t);
};

struct Transpose : Rule {
  static constexpr std::string_view name = "transpose";
  static constexpr std::string_view doc = "result dimension i is operand dimension perm[i]";
  static constexpr bool always_reads = true;
  static constexpr int min_operands = 1;
  static constexpr int max_operands = 1;
  static constexpr std::array attributes{AttributeSpec{"perm", AttributeKind::integers}};
  CALQUE_VIEW_RULES;
  static void jvp(Jvp& j);
  static void transpose(Transposition& t);
};

struct Reverse : Rule {
  static constexpr std::string_view name = "reverse";
  static constexpr std::string_view doc = "the elements backwards along `axes`";
  static constexpr bool always_reads = true;
  static constexpr int min_operands = 1;
  static constexpr int max_operands = 1;
  static constexpr std::array attributes{AttributeSpec{"axes", AttributeKind::integers}};
  CALQUE_VIEW_RULES;
  static void jvp(Jvp& j);
  static void transpose(Transposition& t);
};

struct Slice : Rule {
  static constexpr std::string_view name = "slice";
  static constexpr std::string_view doc =
      "elements start, start + stride, ... below limit in each dimension; 0 <= start <= limit <= extent, stride >= 1";
  static constexpr bool always_reads = true;
  static constexpr int min_operands = 1;
  static constexpr int max_operands = 1;
  static constexpr std::array attributes{AttributeSpec{"limit", AttributeKind::integers},
                                         AttributeSpec{"start", AttributeKind::integers},
                                         AttributeSpec{"stride", AttributeKind::integers}};
  CALQUE_VIEW_RULES;
  static void jvp(Jvp& j);
  static void transpose(Transposition& t);
};

struct Pad : Rule {
  static constexpr std::string_view name = "pad";
  static constexpr std::string_view doc =
      "x with `interior` copies of the rank-0 value between neighbours, then `low` before and `high` after; negative "
      "low and high cut";
  static constexpr bool always_reads = false;
  static constexpr int min_operands = 2;
  static constexpr int max_operands = 2;
  static constexpr std::array attributes{AttributeSpec{"high", AttributeKind::integers},
                                         AttributeSpec{"interior", AttributeKind::integers},
                                         AttributeSpec{"low", AttributeKind::integers}};
  CALQUE_VIEW_RULES;
  static void jvp(Jvp& j);
  static void transpose(Transposition& t);
};

struct Concatenate : Rule {
  static constexpr std::string_view name = "concatenate";
  static constexpr std::string_view doc = "the operands one after the other along `axis`; other extents agree";
  static constexpr bool always_reads = false;
  static constexpr int min_operands = 1;
  static constexpr int max_operands = -1;
  static constexpr std::array attributes{AttributeSpec{"axis", AttributeKind::integer}};
  CALQUE_VIEW_RULES;
  static void jvp(Jvp& j);
  static void transpose(Transposition& t);
};

struct Diagonal : Rule {
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
  CALQUE_VIEW_RULES;
  static void jvp(Jvp& j);
  static void transpose(Transposition& t);
};

/// The elements of a diagonal are those at first1 + i along axis1 and first2 + i along axis2, for i < length.
struct DiagonalRange {
  size_t axis1, axis2;
  int64_t first1, first2, length;

  DiagonalRange(const Attributes& attributes, const Shape& shape);
};

using ShapeList = TypeList<Iota, Broadcast, Reshape, Transpose, Reverse, Slice, Pad, Concatenate, Diagonal>;

}  // namespace calque::primitives
