#pragma once
// Reductions, cumulative operations and contractions. 16-bit floats accumulate in f32 and round once at the end. The
// reference reduces in row-major order: products, min, max and contractions strictly sequentially, float sums pairwise
// over blocks of eight, so that the error of long sums stays within a few roundings. Generated code may reassociate
// float sums, products and contractions.
#include "primitives/core/rule.h"

namespace calque::primitives {

/// Batching rules of reductions over `axes` and of operations along `axis`.
void batch_reduction(Batching& b);
void batch_along_axis(Batching& b);

/// Typing of reductions over `axes`.
void infer_reduction(Typing& t, DTypeSet accepted);

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
  static void evaluate(Evaluation& e);
  static void jvp(Jvp& j);
  static void transpose(Transposition& t);
};

struct ReduceProd : ReductionRule<kNumber> {
  static constexpr std::string_view name = "reduce_prod";
  static constexpr std::string_view doc = "the product over `axes`; 1 if empty; integers wrap";
  static constexpr Combiner combiner = Combiner::mul;
  static void evaluate(Evaluation& e);
  static void jvp(Jvp& j);
  using transpose = NotLinear;
};

struct ReduceMax : ReductionRule<kReal | kBool> {
  static constexpr std::string_view name = "reduce_max";
  static constexpr std::string_view doc = "the max over `axes`; -inf, the least integer or false if empty";
  static constexpr Combiner combiner = Combiner::max;
  static void evaluate(Evaluation& e);
  static void jvp(Jvp& j);
  using transpose = NotLinear;
};

struct ReduceMin : ReductionRule<kReal | kBool> {
  static constexpr std::string_view name = "reduce_min";
  static constexpr std::string_view doc = "the min over `axes`; +inf, the greatest integer or true if empty";
  static constexpr Combiner combiner = Combiner::min;
  static void evaluate(Evaluation& e);
  static void jvp(Jvp& j);
  using transpose = NotLinear;
};

struct ReduceAnd : ReductionRule<kBool | kInteger> {
  static constexpr std::string_view name = "reduce_and";
  static constexpr std::string_view doc = "the bitwise and over `axes`; all bits set if empty";
  static constexpr Combiner combiner = Combiner::and_;
  static void evaluate(Evaluation& e);
  using jvp = ZeroDerivative;
  using transpose = NotLinear;
};

struct ReduceOr : ReductionRule<kBool | kInteger> {
  static constexpr std::string_view name = "reduce_or";
  static constexpr std::string_view doc = "the bitwise or over `axes`; 0 if empty";
  static constexpr Combiner combiner = Combiner::or_;
  static void evaluate(Evaluation& e);
  using jvp = ZeroDerivative;
  using transpose = NotLinear;
};

struct ArgRule : Rule {
  static constexpr int min_operands = 1;
  static constexpr int max_operands = 1;
  static constexpr std::array attributes{AttributeSpec{"axis", AttributeKind::integer},
                                         AttributeSpec{"dtype", AttributeKind::dtype}};
  static constexpr LowerKind kind = LowerKind::structural;
  static constexpr FusionKind fusion_kind = FusionKind::reduction;
  static void infer(Typing& t);
  using jvp = ZeroDerivative;
  using transpose = NotLinear;
  static void batch(Batching& b) { batch_along_axis(b); }
};

struct Argmax : ArgRule {
  static constexpr std::string_view name = "argmax";
  static constexpr std::string_view doc =
      "the index of the greatest along `axis`, of the first NaN if there is one, of the first among equals";
  static constexpr Combiner combiner = Combiner::argmax;
  static void evaluate(Evaluation& e);
};

struct Argmin : ArgRule {
  static constexpr std::string_view name = "argmin";
  static constexpr std::string_view doc =
      "the index of the least along `axis`, of the first NaN if there is one, of the first among equals";
  static constexpr Combiner combiner = Combiner::argmin;
  static void evaluate(Evaluation& e);
};

/// Typing of cumulative operations along `axis`.
void infer_cumulative(Typing& t, DTypeSet accepted);

template <DTypeSet Accepted>
struct CumulativeRule : Rule {
  static constexpr int min_operands = 1;
  static constexpr int max_operands = 1;
  static constexpr DTypeSet accepted = Accepted;
  static constexpr std::array attributes{AttributeSpec{"axis", AttributeKind::integer},
                                         AttributeSpec{"reverse", AttributeKind::boolean}};
  static constexpr LowerKind kind = LowerKind::structural;
  static constexpr FusionKind fusion_kind = FusionKind::cumulative;
  static void infer(Typing& t) { infer_cumulative(t, Accepted); }
  static void batch(Batching& b) { batch_along_axis(b); }
};

struct Cumsum : CumulativeRule<kNumber> {
  static constexpr std::string_view name = "cumsum";
  static constexpr std::string_view doc =
      "sums of all elements up to each along `axis`, from the end if `reverse`; one after the other in the "
      "accumulator's "
      "type";
  static constexpr Combiner combiner = Combiner::add;
  static void evaluate(Evaluation& e);
  static void jvp(Jvp& j);
  static void transpose(Transposition& t);
};

struct Cumprod : CumulativeRule<kNumber> {
  static constexpr std::string_view name = "cumprod";
  static constexpr std::string_view doc = "products of all elements up to each along `axis`, from the end if `reverse`";
  static constexpr Combiner combiner = Combiner::mul;
  static void evaluate(Evaluation& e);
  static void jvp(Jvp& j);
  using transpose = NotLinear;
};

struct Cummax : CumulativeRule<kReal | kBool> {
  static constexpr std::string_view name = "cummax";
  static constexpr std::string_view doc = "max of all elements up to each along `axis`, from the end if `reverse`";
  static constexpr Combiner combiner = Combiner::max;
  static void evaluate(Evaluation& e);
  static void jvp(Jvp& j);
  using transpose = NotLinear;
};

struct Cummin : CumulativeRule<kReal | kBool> {
  static constexpr std::string_view name = "cummin";
  static constexpr std::string_view doc = "min of all elements up to each along `axis`, from the end if `reverse`";
  static constexpr Combiner combiner = Combiner::min;
  static void evaluate(Evaluation& e);
  static void jvp(Jvp& j);
  using transpose = NotLinear;
};

struct DotGeneral : Rule {
  static constexpr std::string_view name = "dot_general";
  static constexpr std::string_view doc =
      "sums of products over pairs of contracted dimensions, for each index of the pairs of batch dimensions; result "
      "dimensions: batch, free of a, free of b; of bool it is or of ands";
  static constexpr int min_operands = 2;
  static constexpr int max_operands = 2;
  static constexpr std::array attributes{
      AttributeSpec{"lhs_batch", AttributeKind::integers}, AttributeSpec{"lhs_contract", AttributeKind::integers},
      AttributeSpec{"rhs_batch", AttributeKind::integers}, AttributeSpec{"rhs_contract", AttributeKind::integers}};
  static constexpr LowerKind kind = LowerKind::structural;
  static constexpr FusionKind fusion_kind = FusionKind::contraction;
  static void infer(Typing& t);
  static void evaluate(Evaluation& e);
  static void jvp(Jvp& j);
  static void transpose(Transposition& t);
  static void batch(Batching& b);
};

using ReductionList = TypeList<ReduceSum, ReduceProd, ReduceMax, ReduceMin, ReduceAnd, ReduceOr, Argmax, Argmin, Cumsum,
                               Cumprod, Cummax, Cummin, DotGeneral>;

}  // namespace calque::primitives
