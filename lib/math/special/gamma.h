// lgamma, tgamma, digamma.
//
// a = |x|. Up to 3: a polynomial about 2, with the zeros of lgamma and digamma divided out. From 3 on: Stirling's
// series, whose remainder is a polynomial in 1 / a^2 valid for every a. Below 1: one step of the recurrence leads to
// [1, 2). Negative arguments are reflected on a cold path. f32 is computed in f64 with shorter polynomials.
#pragma once

#include "math/coefficients/gamma.h"
#include "math/elementary/exponential.h"
#include "math/elementary/logarithm.h"
#include "math/elementary/power.h"
#include "math/elementary/trigonometric.h"

namespace calque::math {

/// The reduction of pi a by multiples of pi/2, for a >= 0.
template <FloatLane F>
TrigReduction<F> reduce_pi(const F& a) {
  using T = scalar_t<F>;
  using C = TrigConstants<T>;
  const F turn = fma(trunc(a * T(0.5)), T(-2), a);
  const F shifted = fma(turn, T(2), FloatFormat<T>::kRoundingShift);
  const F r = fma(shifted - FloatFormat<T>::kRoundingShift, T(-0.5), turn);
  const Pair<F> angle = multiply(Pair<F>{F(C::kPi_0), F(C::kPi_1)}, r);
  return {to_bits(shifted), angle.high, angle.low};
}

/// log a to about 2^-56 (f64), as a pair, for positive finite a.
template <FloatLane F>
Pair<F> log_pair(const F& a) {
  using T = scalar_t<F>;
  using C = LogConstants<T>;
  using Format = FloatFormat<T>;
  constexpr T kUp = sizeof(T) == 4 ? T(0x1p24) : T(0x1p53);
  const mask_t<F> subnormal = a < F(Format::kMinNormal);
  const LogReduction<F> r =
      log_reduction(where(subnormal, a * kUp, a), where(subnormal, int_t<F>(-Format::kMantissaBits - 1), int_t<F>(0)));
  const Pair<F> sum = quick_two_sum(r.k * C::kLn2_0, r.rest.high);
  return quick_two_sum(sum.high, sum.low + fma(r.k, C::kLn2_1, r.rest.low));
}

/// (a - 1/2) (log a - 1) + (log(2 pi) - 1) / 2 + rest(1 / a^2) / a = lgamma(a) for a >= 3, given log a.
template <class Constants, class B>
Pair<Lane<double, B>> stirling(const Lane<double, B>& a, const Pair<Lane<double, B>>& log_a) {
  using F = Lane<double, B>;
  const F reciprocal = 1.0 / a;
  const F rest = reciprocal * horner(reciprocal * reciprocal, Constants::kStirling);
  const Pair<F> product = multiply(add(log_a, F(-1)), a - 0.5);
  const Pair<F> sum = two_sum(product.high, F(Constants::kHalfLog2PiLess_0));
  return {sum.high, sum.low + (product.low + (rest + Constants::kHalfLog2PiLess_1))};
}

/// log |gamma(x)| as a pair, for 0 < x < inf; on overflow the low part is NaN.
template <class Constants, class B>
Pair<Lane<double, B>> lgamma_positive(const Lane<double, B>& a) {
  using F = Lane<double, B>;
  const Pair<F> log_a = log_pair(a);
  const mask_t<F> below_one = a < F(1);
  const F w = where(below_one, a, a - 1.0);
  const F v = where(below_one, a - 1.0, a - 2.0);
  const F q = horner(v, Constants::kLgamma);
  const Pair<F> vw = two_product(v, w);
  const F near_two = fma(vw.high, q, vw.low * q);
  const Pair<F> shifted = two_sum(near_two, where(below_one, -log_a.high, F(0)));
  const Pair<F> small{shifted.high, shifted.low - where(below_one, log_a.low, F(0))};
  return where(a < F(3), small, stirling<Constants>(where(a < F(3), F(3), a), log_a));
}

/// lgamma in f64, with the polynomials of Constants.
template <class Constants, class B>
Lane<double, B> lgamma_with(const Lane<double, B>& x) {
  using F = Lane<double, B>;
  const Pair<F> l = lgamma_positive<Constants>(abs(x));
  const F sum = l.high + l.low;
  return with_cold_path(
      !((x > F(0)) & (sum < F(kInfinity<double>))), sum,
      [](const F& v, const F& high, const F& low) {
        // log(pi / (a |sin pi a|)) - lgamma(a)
        const F a = abs(v);
        const mask_t<F> pole = (trunc(a) == a) & (v <= F(0));
        const F t = a * abs(sin_of(reduce_pi(a), F(0)));
        const Pair<F> log_t = log_pair(where(t > F(0), t, F(1)));
        const Pair<F> sum1 = two_sum(F(Constants::kLogPi_0), -log_t.high);
        const Pair<F> sum2 = two_sum(sum1.high, -high);
        const F reflected = sum2.high + ((sum1.low + sum2.low) + ((Constants::kLogPi_1 - log_t.low) - low));
        // Near 0 it is -log a on both sides. A positive argument on this path has overflowed.
        const F negative = where(a < F(0x1p-60), high + low, reflected);
        const mask_t<F> infinite = pole | (v > F(0)) | (a == F(kInfinity<double>));
        const F result = where(infinite, F(kInfinity<double>), negative);
        return where(is_nan(v), v, result);
      },
      x, l.high, l.low);
}

/// The logarithm of |gamma(x)|; infinite at the poles 0, -1, -2, ...
template <FloatLane F>
F lgamma(const F& x) {
  using T = scalar_t<F>;
  return convert<T>(lgamma_with<GammaConstants<T>>(convert<double>(x)));
}

/// log a with an error of 2^-66.
template <class B>
Pair<Lane<double, B>> precise_log_pair(const Lane<double, B>& a) {
  using F = Lane<double, B>;
  using C = LogConstants<double>;
  const Pair<F> l = log2_pair(a, int_t<F>(0));
  return multiply(l, Pair<F>{F(C::kFullLn2_0), F(C::kFullLn2_1)});
}

/// gamma in f64, with the polynomials of Constants.
template <class Constants, class B>
Lane<double, B> tgamma_with(const Lane<double, B>& x) {
  using F = Lane<double, B>;
  constexpr bool kPrecise = std::is_same_v<Constants, GammaConstants<double>>;
  const F a = abs(x);
  // 2 + v = a, a + 1 or a + 2.
  const mask_t<F> below_one = a < F(1);
  const mask_t<F> below_two = a < F(2);
  const F v = where(below_one, a, where(below_two, a - 1.0, where(a < F(3), a - 2.0, F(0))));
  const F divisor = where(below_one, fma(a, a, a), where(below_two, a, F(1)));
  const F g = horner(v, Constants::kGamma);
  const F small = g / divisor;
  // Beyond 200 gamma overflows and 1 / gamma underflows to 0.
  const F large_a = where(a < F(3), F(3), where(a > F(200), F(200), a));
  const Pair<F> log_gamma = [&] {
    if constexpr (kPrecise) {
      return stirling<Constants>(large_a, precise_log_pair(large_a));
    } else {
      return stirling<Constants>(large_a, log_pair(large_a));
    }
  }();
  const F fast = where(a < F(3), small, exp_of_pair(log_gamma.high, log_gamma.low));
  return with_cold_path(
      !(x > F(0)), fast,
      [](const F& u, const F& high, const F& low, const F& gamma_of_two) {
        // -pi / (a sin(pi a) gamma(a)), where gamma(a) = g / (a (a + 1)), g / a or g up to 3.
        const F b = abs(u);
        const mask_t<F> undefined = ((trunc(b) == b) & (b > F(0))) | is_nan(u);
        const F sine = sin_of(reduce_pi(b), F(0));
        const ExpPair<F> e = exp_pair(-high, -low);
        const F ratio = TrigConstants<double>::kPi_0 / (sine * b);
        const F far = scale(fma(ratio, e.high, ratio * e.low), e.exponent);
        const Pair<F> numerator = where(b < F(1), quick_two_sum(F(1), b), Pair<F>{F(1), F(0)});
        const Pair<F> pi{F(TrigConstants<double>::kPi_0), F(TrigConstants<double>::kPi_1)};
        const Pair<F> denominator = multiply(two_product(sine, gamma_of_two), where(b < F(2), F(1), b));
        const Pair<F> near = divide(multiply(pi, numerator), denominator);
        const F negative = where(b < F(0x1p-60), 1.0 / u, -where(b < F(3), near.high + near.low, far));
        return where(undefined, F(kNaN<double>), negative);
      },
      x, log_gamma.high, log_gamma.low, g);
}

/// The gamma function; infinite at 0 with its sign, NaN at the other poles and at -inf.
template <FloatLane F>
F tgamma(const F& x) {
  using T = scalar_t<F>;
  return convert<T>(tgamma_with<GammaConstants<T>>(convert<double>(x)));
}

/// digamma in f64, with the polynomials of Constants.
template <class Constants, class B>
Lane<double, B> digamma_with(const Lane<double, B>& x) {
  using F = Lane<double, B>;
  const F a = abs(x);
  const mask_t<F> below_one = a < F(1);
  const F reciprocal = 1.0 / a;
  const F v = where(below_one, a - 1.0, where(a < F(3), a - 2.0, F(1)));
  const F factor = (v - Constants::kDigammaRootLess2_0) - Constants::kDigammaRootLess2_1;
  const F near_two = factor * horner(v, Constants::kDigamma);
  const F small = where(below_one, near_two - reciprocal, near_two);
  const F w = reciprocal * reciprocal;
  const F limited = where(below_one, F(1), a);
  const Pair<F> log_a = log_pair(limited);
  const F series = fma(w, horner(where(a < F(3), F(0), w), Constants::kDigammaLarge), reciprocal * 0.5);
  const F large = log_a.high + (log_a.low - series);
  const F fast = where(a < F(3), small, large);
  return with_cold_path(
      !((x > F(0)) & (x < F(kInfinity<double>))), fast,
      [](const F& u, const F& positive) {
        // digamma(a) + 1 / a + pi / tan(pi a)
        const F b = abs(u);
        const mask_t<F> undefined = ((trunc(b) == b) & (u < F(0))) | is_nan(u);
        const TrigReduction<F> r = reduce_pi(b);
        const F cotangent = (TrigConstants<double>::kPi_0 * cos_of(r)) / sin_of(r, F(0));
        const F inverse = 1.0 / u;
        const F reflected = (positive - inverse) + cotangent;
        const F negative = where(b < F(0x1p-60), -inverse, reflected);
        const F edge = where(u == F(kInfinity<double>), u, negative);
        return where(undefined, F(kNaN<double>), edge);
      },
      x, fast);
}

/// The derivative of lgamma; -inf at 0, +inf at -0, NaN at the other poles.
template <FloatLane F>
F digamma(const F& x) {
  using T = scalar_t<F>;
  return convert<T>(digamma_with<GammaConstants<T>>(convert<double>(x)));
}

}  // namespace calque::math
