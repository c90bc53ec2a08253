// The zeta function of Hurwitz, the sum of (q + k)^-s for k from 0.
//
// Euler and Maclaurin's formula (Abramowitz and Stegun 23.1.30): the first terms, and an integral and corrections for
// those from w = q + kTerms on. For q < 0 and a whole s the terms of negative q + k are those of positive numbers. f32
// is computed in f64.
#pragma once

#include "math/elementary/exponential.h"
#include "math/elementary/logarithm.h"
#include "math/elementary/power.h"
#include "math/support.h"

namespace calque::math {

template <class T>
struct ZetaConstants {
  static constexpr int kTerms = sizeof(T) == 4 ? 5 : 7;
  /// B_2j / (2j)!
  static constexpr std::array<double, 12> kAll = {1.0 / 12,
                                                  -1.0 / 720,
                                                  1.0 / 30240,
                                                  -1.0 / 1209600,
                                                  1.0 / 47900160,
                                                  -691.0 / 1307674368000.0,
                                                  1.0 / 74724249600.0,
                                                  -3617.0 / 10670622842880000.0,
                                                  43867.0 / 5109094217170944000.0,
                                                  -174611.0 / 802857662698291200000.0,
                                                  77683.0 / 14101100039391805440000.0,
                                                  -236364091.0 / 1693824136731743669452800000.0};
  static constexpr std::size_t kCorrections = sizeof(T) == 4 ? 6 : 12;
};

/// b^y to the accuracy that a result in T needs. For f64, unless in kCold, b is normal, and powers outside
/// [2^-1020, 2^1020] are near these bounds.
template <class T, bool kCold, class B>
Lane<double, B> zeta_power(const Lane<double, B>& b, const Lane<double, B>& y) {
  using F = Lane<double, B>;
  using C = PowerConstants<double>;
  using I = int_t<F>;
  const auto limited = [](const F& x, double bound) {
    return where(x > F(bound), F(bound), where(x < F(-bound), F(-bound), x));
  };
  if constexpr (sizeof(T) == 4) {
    // As in pow: beyond these limits, f32 overflows or underflows to 0.
    const auto [m, exponent] = split_exponent(b, I(0x3fe6a09e667f3bcd));
    const F u = (m - 1.0) / (m + 1.0);
    const F log2 = fma(u, polynomial(u * u, C::kLog2ForFloat), small_integer<F>(exponent));
    const F product = limited(y * log2, 200);
    const F shifted = product + FloatFormat<double>::kRoundingShift;
    const F r = product - (shifted - FloatFormat<double>::kRoundingShift);
    return from_bits(to_bits(polynomial(r, C::kExp2ForFloat)) + (to_bits(shifted) << I(52)));
  } else if constexpr (kCold) {
    return pow_slowly(b, y);
  } else {
    const Pair<F> l = log2_pair(b, I(0));
    const F product = y * l.high;
    const Scaled<F> p = exp2_of_pair(limited(product, 1020), multiply_add(y, l.low, product_error(y, l.high, product)));
    return from_bits(to_bits(p.value) + (p.exponent << I(52)));
  }
}

/// The powers of zeta(s, q).
template <FloatLane F>
struct ZetaPowers {
  Pair<F> head;  ///< the sum of (q + k)^-s for k below kTerms
  F last;        ///< (q + kTerms)^(1 - s)
};

/// A loop, so that the code has one power; from the last one to the first.
template <class T, bool kCold, class B>
ZetaPowers<Lane<double, B>> zeta_powers(const Lane<double, B>& s, const Lane<double, B>& q) {
  using F = Lane<double, B>;
  const auto [k, high, low, last, s_end, q_end] = while_lanes(
      [](const F& i, const F&, const F&, const F&, const F&, const F&) { return i >= F(0); },
      [](const F& i, const F& sum, const F& rest, const F& first, const F& exponent, const F& from) {
        const mask_t<F> is_last = i == F(ZetaConstants<T>::kTerms);
        const Pair<F> base = two_sum(from, i);
        const F rounded = zeta_power<T, kCold>(base.high, where(is_last, F(1), F(0)) - exponent);
        // For larger exponents only the first term matters, and its base is exact.
        const F slope = where(is_last, F(1), F(0)) - where(exponent < F(1000), exponent, F(1000));
        F power = fma(rounded, slope * (base.low / base.high), rounded);
        if constexpr (kCold) power = where(rounded < F(kInfinity<double>), power, rounded);
        const Pair<F> next = two_sum(sum, where(is_last, F(0), power));
        return std::tuple{i - 1.0, next.high, rest + next.low, where(is_last, power, first), exponent, from};
      },
      F(ZetaConstants<T>::kTerms), F(0), F(0), F(0), s, q);
  return {{high, low}, last};
}

/// zeta(s, q) for 1 < s and 0 < q, both finite.
template <class T, bool kCold, class B>
Lane<double, B> zeta_positive(const Lane<double, B>& s, const Lane<double, B>& q) {
  using F = Lane<double, B>;
  using C = ZetaConstants<T>;
  const F bounded = where(s < F(1000), s, F(1000));
  const F r = 1.0 / (q + static_cast<double>(C::kTerms));
  const F square = r * r;
  F series(C::kAll[C::kCorrections - 1]);
  for (std::size_t j = C::kCorrections - 1; j-- > 0;) {
    const F first = bounded + static_cast<double>(2 * j + 1);
    series = fma(series * square, first * (first + 1.0), F(C::kAll[j]));
  }
  const ZetaPowers<F> powers = zeta_powers<T, kCold>(s, q);
  // Where the limit of powers is reached, the sum is far larger than the tail.
  constexpr double kLimit = sizeof(T) == 4 ? 0x1p-199 : kCold ? 0.0 : 0x1p-1019;
  const F last = where(powers.last > F(kLimit), powers.last, F(0));
  const F tail = fma(last * r, fma(bounded * r, series, F(0.5)), last / (s - 1.0));
  // Where the sum is infinite, its low part is NaN.
  const F rest = where(powers.head.high < F(kInfinity<double>), powers.head.low + tail, F(0));
  return powers.head.high + rest;
}

/// zeta(s, q) for 1 < s and positive q, or whole s > 1 and q < 0 that is not whole: of the terms with negative q + k,
/// the sum of |q + k|^-s is a difference of two zeta functions.
template <class T, class B>
Lane<double, B> zeta_slowly(const Lane<double, B>& s, const Lane<double, B>& q) {
  using F = Lane<double, B>;
  const auto [k, sum, s_end, q_end] = while_lanes(
      [](const F& i, const F&, const F&, const F& from) { return i < where(from < F(0), F(3), F(1)); },
      [](const F& i, const F& partial, const F& exponent, const F& from) {
        const mask_t<F> positive = from > F(0);
        const F fraction = trunc(from) - from;
        const F half = exponent * 0.5;
        const F sign = where(trunc(half) == half, F(1), F(-1));
        const F at = where(positive, from, where(i == F(0), 1.0 - from, where(i == F(1), fraction, 1.0 - fraction)));
        const F factor = where(i == F(0), -sign, where(i == F(1), sign, F(1)));
        const F term = zeta_positive<T, true>(exponent, at);
        return std::tuple{i + 1.0, where(positive, term, fma(factor, term, partial)), exponent, from};
      },
      F(0), F(0), s, q);
  return sum;
}

/// The zeta function of Hurwitz for s > 1: infinite at s = 1 and at whole q <= 0; NaN for s < 1, and for other q < 0
/// unless s is whole.
template <FloatLane F>
F zeta(const F& s, const F& q) {
  using T = scalar_t<F>;
  using D = decltype(convert<double>(s));
  const D exponent = convert<double>(s);
  const D from = convert<double>(q);
  // Up to 2^40, limits of powers are limits of their sum; an infinite result of f32 may be any large number.
  const mask_t<D> ordinary = (exponent > D(1)) & (exponent < D(0x1p40)) & (from >= D(FloatFormat<double>::kMinNormal)) &
                             (from < D(kInfinity<double>));
  const D fast = zeta_positive<T, false>(where(ordinary, exponent, D(2)), where(ordinary, from, D(1)));
  const mask_t<D> in_range = sizeof(T) == 4 ? ordinary : ordinary & (fast > D(0x1p-900)) & (fast < D(0x1p1019));
  return convert<T>(with_cold_path(
      !in_range, fast,
      [](const D& e, const D& start) {
        const mask_t<D> above = e > D(1);
        const mask_t<D> whole = trunc(start) == start;
        const mask_t<D> positive = above & (start > D(0)) & (start < D(kInfinity<double>));
        const mask_t<D> reflected = above & (start < D(0)) & !whole & (trunc(e) == e) & (e < D(kInfinity<double>));
        const mask_t<D> summed = positive | reflected;
        // An infinite s gives the powers' limits.
        const D finite = where(e < D(1e300), e, D(1e300));
        const D sum = zeta_slowly<T>(where(summed, finite, D(2)), where(summed, start, D(1)));
        const D pole = where((e == D(1)) | (above & whole & (start <= D(0))), D(kInfinity<double>), D(kNaN<double>));
        const D edge = where(above & (start == D(kInfinity<double>)), D(0), pole);
        return where(is_nan(e) | is_nan(start), D(kNaN<double>), where(summed, sum, edge));
      },
      exponent, from));
}

}  // namespace calque::math
