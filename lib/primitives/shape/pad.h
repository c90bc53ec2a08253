#pragma once
#include "primitives/shape/view.h"

namespace calque::primitives {

struct Pad : View {
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
  static void infer(Typing& t);
  static void evaluate(Evaluation& e);
  static Scalar lower(Lowering& l, const Equation& e, size_t result, std::span<const Scalar> index);
  static void jvp(Jvp& j);
  static void transpose(Transposition& t);
  static void batch(Batching& b);
};

/// Pads a value with zeros.
Value pad_with_zeros(const Writer& w, Value x, std::vector<int64_t> low, std::vector<int64_t> high,
                     std::vector<int64_t> interior);

}  // namespace calque::primitives
