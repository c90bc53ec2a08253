#pragma once
// Reductions over axes. 16-bit floats accumulate in f32 and round once at the end. The reference reduces in row-major
// order: products, min and max strictly sequentially, float sums pairwise over blocks of eight, so that the error of
// long sums stays within a few roundings. Generated code may reassociate float sums and products.
#include "primitives/core/rule.h"

namespace calque::primitives {

/// Typing of reductions over `axes`.
void infer_reduction(Typing& t, DTypeSet accepted);

/// Batching of reductions over `axes`.
void batch_reduction(Batching& b);

template <DTypeSet Accepted>
struct ReductionRule : Rule {
  static constexpr int min_operands = 1;
  static constexpr int max_operands = 1;
  static constexpr DTypeSet accepted = Accepted;
  static constexpr std::array attributes{AttributeSpec{"axes", AttributeKind::integers}};
  static constexpr LowerKind kind = LowerKind::structural;
  static constexpr FusionKind fusion_kind = FusionKind::reduction;
  static void infer(Typing& t) { infer_reduction(t, Accepted); }
  static void batch(Batching& b) { batch_reduction(b); }
};

struct ReduceSum : ReductionRule<kNumber> {
  static constexpr std::string_view name = "reduce_sum";
  static constexpr std::string_view doc = "the sum over `axes`; 0 if empty; integers wrap";
  static constexpr Combiner combiner = Combiner::add;
  static constexpr DefinedBits defined_bits = DefinedBits::exact_dtypes;
  static void evaluate(Evaluation& e);
  static void jvp(Jvp& j);
  static void transpose(Transposition& t);
};

struct ReduceProd : ReductionRule<kNumber> {
  static constexpr std::string_view name = "reduce_prod";
  static constexpr std::string_view doc = "the product over `axes`; 1 if empty; integers wrap";
  static constexpr Combiner combiner = Combiner::mul;
  static constexpr DefinedBits defined_bits = DefinedBits::exact_dtypes;
  static void evaluate(Evaluation& e);
  static void jvp(Jvp& j);
  using transpose = NotLinear;
};

struct ReduceMax : ReductionRule<kReal | kBool> {
  static constexpr std::string_view name = "reduce_max";
  static constexpr std::string_view doc = "the max over `axes`; -inf, the least integer or false if empty";
  static constexpr Combiner combiner = Combiner::max;
  static constexpr DefinedBits defined_bits = DefinedBits::always;
  static void evaluate(Evaluation& e);
  static void jvp(Jvp& j);
  using transpose = NotLinear;
};

struct ReduceMin : ReductionRule<kReal | kBool> {
  static constexpr std::string_view name = "reduce_min";
  static constexpr std::string_view doc = "the min over `axes`; +inf, the greatest integer or true if empty";
  static constexpr Combiner combiner = Combiner::min;
  static constexpr DefinedBits defined_bits = DefinedBits::always;
  static void evaluate(Evaluation& e);
  static void jvp(Jvp& j);
  using transpose = NotLinear;
};

struct ReduceAnd : ReductionRule<kBool | kInteger> {
  static constexpr std::string_view name = "reduce_and";
  static constexpr std::string_view doc = "the bitwise and over `axes`; all bits set if empty";
  static constexpr Combiner combiner = Combiner::and_;
  static constexpr DefinedBits defined_bits = DefinedBits::always;
  static void evaluate(Evaluation& e);
  using jvp = ZeroDerivative;
  using transpose = NotLinear;
};

struct ReduceOr : ReductionRule<kBool | kInteger> {
  static constexpr std::string_view name = "reduce_or";
  static constexpr std::string_view doc = "the bitwise or over `axes`; 0 if empty";
  static constexpr Combiner combiner = Combiner::or_;
  static constexpr DefinedBits defined_bits = DefinedBits::always;
  static void evaluate(Evaluation& e);
  using jvp = ZeroDerivative;
  using transpose = NotLinear;
};

}  // namespace calque::primitives
