// Payne-Hanek reduction of huge arguments by multiples of pi/2: x is multiplied only by those bits of 2/pi whose
// products are neither multiples of 4 nor below an ulp of the result.
#pragma once

#include "math/elementary/two_over_pi.h"
#include "math/support.h"

namespace calque::math {

/// x = (4 j + quadrant) pi/2 + high + low; only the two low bits of `quadrant` are significant.
template <FloatLane F>
struct TrigReduction {
  int_t<F> quadrant;
  F high;
  F low;
};

/// The significand of x as an integer, and the index of the parts of 2/pi for its exponent. Lanes with small arguments
/// may be computed too; their index is clamped to the table.
template <FloatLane F>
std::pair<F, int_t<F>> significand_and_index(const F& x) {
  using Format = FloatFormat<scalar_t<F>>;
  using I = int_t<F>;
  const I bits = to_bits(x);
  const I index =
      (bits >> I(Format::kMantissaBits)) - I(TwoOverPi<scalar_t<F>>::kLeast + Format::kBias + Format::kMantissaBits);
  const F m = from_bits((bits & I(Format::kMantissaMask)) |
                        I(std::int64_t{Format::kBias + Format::kMantissaBits} << Format::kMantissaBits));
  return {m, where(index < I(0), I(0), index)};
}

/// a modulo 4, computed exactly, in [-2, 2].
template <FloatLane F>
F modulo_four(const F& a) {
  return fma(rint(a * scalar_t<F>(0.25)), scalar_t<F>(-4), a);
}

/// The reduction of x >= 2^16, by products in f64. No float is closer to a multiple of pi/2 than 2^-30.
template <class B>
TrigReduction<Lane<float, B>> reduce_trig_huge(const Lane<float, B>& x) {
  using D = Lane<double, B>;
  using Format = FloatFormat<double>;
  const auto [significand, index] = significand_and_index(x);
  const D m = convert<double>(significand);
  const D part1 = lookup(TwoOverPi<float>::kPart1, index);
  const D c = modulo_four(m * lookup(TwoOverPi<float>::kPart0, index));
  const D shifted = fma(m, part1, c) + Format::kRoundingShift;
  // c - n is exact.
  const D r = fma(m, part1, c - (shifted - Format::kRoundingShift)) * TrigConstants<double>::kPiOver2_0;
  const auto high = convert<float>(r);
  // Infinity becomes NaN.
  const auto low = convert<float>(r - convert<double>(high)) + (x - x);
  return {convert<std::int32_t>(to_bits(shifted) - int_t<D>(Format::kRoundingShiftBits)), high, low};
}

/// The reduction of x >= 2^30. No double is closer to a multiple of pi/2 than 2^-62.
template <class B>
TrigReduction<Lane<double, B>> reduce_trig_huge(const Lane<double, B>& x) {
  using F = Lane<double, B>;
  using C = TrigConstants<double>;
  using Format = FloatFormat<double>;
  const auto [m, index] = significand_and_index(x);
  const auto product = [&](const auto& table) { return two_product(m, lookup(table, index)); };
  // Exact up to here: multiples of 2^-48 below 4.
  const Pair<F> p0 = product(TwoOverPi<double>::kPart0);
  const F c = modulo_four(p0.high) + p0.low;
  const Pair<F> p1 = product(TwoOverPi<double>::kPart1);
  const Pair<F> p2 = product(TwoOverPi<double>::kPart2);
  const Pair<F> sum = two_sum(c, p1.high);
  const F shifted = sum.high + Format::kRoundingShift;
  const F f = sum.high - (shifted - Format::kRoundingShift);
  const Pair<F> u = two_sum(p1.low, p2.high);
  const Pair<F> v = two_sum(sum.low, u.high);
  const Pair<F> w = two_sum(f, v.high);
  const F rest = fma(m, lookup(TwoOverPi<double>::kPart3, index), p2.low);
  const Pair<F> fraction = quick_two_sum(w.high, w.low + (v.low + (u.low + rest)));
  const Pair<F> r = multiply(fraction, Pair<F>{F(C::kPiOver2_0), F(C::kPiOver2_1)});
  // Infinity becomes NaN.
  return {to_bits(shifted), r.high, r.low + (x - x)};
}

}  // namespace calque::math
