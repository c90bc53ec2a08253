#pragma once
// Cumulative operations along an axis. 16-bit floats accumulate in f32, and each result is rounded.
#include "primitives/core/rule.h"

namespace calque::primitives {

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
  static constexpr FusionKind fusion_kind = FusionKind::anchor;
  static constexpr Anchor anchor = Anchor::cumulative;
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
  static constexpr DefinedBits defined_bits = DefinedBits::exact_dtypes;
  static void evaluate(Evaluation& e);
  static void jvp(Jvp& j);
  static void transpose(Transposition& t);
};

struct Cumprod : CumulativeRule<kNumber> {
  static constexpr std::string_view name = "cumprod";
  static constexpr std::string_view doc = "products of all elements up to each along `axis`, from the end if `reverse`";
  static constexpr Combiner combiner = Combiner::mul;
  static constexpr DefinedBits defined_bits = DefinedBits::exact_dtypes;
  static void evaluate(Evaluation& e);
  static void jvp(Jvp& j);
  using transpose = NotLinear;
};

struct Cummax : CumulativeRule<kReal | kBool> {
  static constexpr std::string_view name = "cummax";
  static constexpr std::string_view doc = "max of all elements up to each along `axis`, from the end if `reverse`";
  static constexpr Combiner combiner = Combiner::max;
  static constexpr DefinedBits defined_bits = DefinedBits::always;
  static void evaluate(Evaluation& e);
  static void jvp(Jvp& j);
  using transpose = NotLinear;
};

struct Cummin : CumulativeRule<kReal | kBool> {
  static constexpr std::string_view name = "cummin";
  static constexpr std::string_view doc = "min of all elements up to each along `axis`, from the end if `reverse`";
  static constexpr Combiner combiner = Combiner::min;
  static constexpr DefinedBits defined_bits = DefinedBits::always;
  static void evaluate(Evaluation& e);
  static void jvp(Jvp& j);
  using transpose = NotLinear;
};

/// x shifted by one along `axis` toward the end (the start if `reverse`), with `first` shifted in.
Value shift_along(const Writer& w, Value x, size_t axis, bool reverse, double first);

/// The cumulative operation with that id of x.
Value emit_cumulative(const Writer& w, PrimitiveId id, Value x, int64_t axis, bool reverse);

}  // namespace calque::primitives
