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
  static constexpr int kTerms = sizeof(T) == 4 ? 8 : 10;
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

/// b^y to the accuracy that a result in T needs.
template <class T, class B>
Lane<double, B> zeta_power(const Lane<double, B>& b, const Lane<double, B>& y) {
  if constexpr (sizeof(T) == 4) {
    return exp(y * log(b));
  } else {
    return pow(b, y);
  }
}

/// The sum of (q + k)^-s for k from n down to 1, after `tail`; s is at most 1000 in `bounded`.
template <class T, bool kCold, class B>
Lane<double, B> zeta_head(const Lane<double, B>& s, const Lane<double, B>& bounded, const Lane<double, B>& q,
                          const Lane<double, B>& tail) {
  using F = Lane<double, B>;
  const auto step = [](const F& k, const F& partial, const F& exponent, const F& limited, const F& from) {
    const Pair<F> base = two_sum(from, k);
    const F term = zeta_power<T>(base.high, -exponent);
    return partial + fma(-term, limited * (base.low / base.high), term);
  };
  if constexpr (kCold) {
    return std::get<1>(
        while_lanes([](const F& k, const F&, const F&, const F&, const F&) { return k > F(0); },
                    [step](const F& k, const F& partial, const F& exponent, const F& limited, const F& from) {
                      return std::tuple{k - 1.0, step(k, partial, exponent, limited, from), exponent, limited, from};
                    },
                    F(ZetaConstants<T>::kTerms - 1), tail, s, bounded, q));
  } else {
    // Without a loop, in which powers would have no cold path.
    F sum = tail;
    for (int k = ZetaConstants<T>::kTerms - 1; k > 0; --k) sum = step(F(k), sum, s, bounded, q);
    return sum;
  }
}

/// zeta(s, q) for 1 < s and 0 < q, both finite.
template <class T, bool kCold, class B>
Lane<double, B> zeta_positive(const Lane<double, B>& s, const Lane<double, B>& q) {
  using F = Lane<double, B>;
  using C = ZetaConstants<T>;
  // For larger s only the first term matters.
  const F bounded = where(s < F(1000), s, F(1000));
  const Pair<F> w = two_sum(q, F(C::kTerms));
  const F r = 1.0 / w.high;
  const F rounded = zeta_power<T>(w.high, 1.0 - s);
  const F power = fma(rounded, (1.0 - bounded) * (w.low * r), rounded);
  const F square = r * r;
  F series(C::kAll[C::kCorrections - 1]);
  for (std::size_t j = C::kCorrections - 1; j-- > 0;) {
    const F first = bounded + static_cast<double>(2 * j + 1);
    series = fma(series * square, first * (first + 1.0), F(C::kAll[j]));
  }
  const F tail = fma(power * r, fma(bounded * r, series, F(0.5)), power / (s - 1.0));
  return zeta_power<T>(q, -s) + zeta_head<T, kCold>(s, bounded, q, tail);
}

/// zeta(s, q) for whole s > 1 and q < 0 that is not whole: of the terms with negative q + k, the sum of |q + k|^-s is a
/// difference of two zeta functions.
template <class T, class B>
Lane<double, B> zeta_negative(const Lane<double, B>& s, const Lane<double, B>& q) {
  using F = Lane<double, B>;
  const auto [k, sum, s_end, q_end] = while_lanes(
      [](const F& i, const F&, const F&, const F&) { return i < F(3); },
      [](const F& i, const F& partial, const F& exponent, const F& from) {
        const F fraction = trunc(from) - from;
        const F half = exponent * 0.5;
        const F sign = where(trunc(half) == half, F(1), F(-1));
        const F at = where(i == F(0), 1.0 - from, where(i == F(1), fraction, 1.0 - fraction));
        const F factor = where(i == F(0), -sign, where(i == F(1), sign, F(1)));
        return std::tuple{i + 1.0, fma(factor, zeta_positive<T, true>(exponent, at), partial), exponent, from};
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
  // An infinite s gives the powers' limits.
  const D finite = where(exponent < D(1e300), exponent, D(1e300));
  const mask_t<D> ordinary = (exponent > D(1)) & (from > D(0)) & (from < D(kInfinity<double>));
  const D fast = zeta_positive<T, false>(where(ordinary, finite, D(2)), where(ordinary, from, D(1)));
  return convert<T>(with_cold_path(
      !ordinary, fast,
      [](const D& e, const D& start) {
        const mask_t<D> above = e > D(1);
        const mask_t<D> whole = trunc(start) == start;
        const mask_t<D> reflected = above & (start < D(0)) & !whole & (trunc(e) == e) & (e < D(kInfinity<double>));
        const D sum = zeta_negative<T>(where(reflected, e, D(2)), where(reflected, start, D(-0.5)));
        const D pole = where((e == D(1)) | (above & whole & (start <= D(0))), D(kInfinity<double>), D(kNaN<double>));
        const D edge = where(above & (start == D(kInfinity<double>)), D(0), pole);
        return where(is_nan(e) | is_nan(start), D(kNaN<double>), where(reflected, sum, edge));
      },
      exponent, from));
}

}  // namespace calque::math
