#pragma once
// Contractions. 16-bit floats accumulate in f32 and round once at the end; the reference sums strictly sequentially,
// generated code may reassociate float sums.
#include "primitives/core/rule.h"

namespace calque::primitives {

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
  static constexpr DefinedBits defined_bits = DefinedBits::exact_dtypes;
  static void infer(Typing& t);
  static void evaluate(Evaluation& e);
  static void jvp(Jvp& j);
  static void transpose(Transposition& t);
  static void batch(Batching& b);
};

using ContractionList = TypeList<DotGeneral>;

}  // namespace calque::primitives
