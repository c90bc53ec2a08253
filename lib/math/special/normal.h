// erfcx, ndtr, log_ndtr, ndtri.
//
// e^(x^2) erfc(x) and e^(x^2 / 2) ndtr(-x) decay like 1 / x: times 1 + c x they are nearly constant on [0, inf), and
// polynomials in (x - m) / (x + m) (Shepherd and Laframboise, "Chebyshev approximation of (1 + 2x) exp(x^2) erfc(x) in
// 0 <= x < inf", Math. Comp. 36, 1981). The squares in the exponents are pairs.
#pragma once

#include "math/coefficients/normal.h"
#include "math/elementary/exponential.h"
#include "math/elementary/logarithm.h"
#include "math/special/gamma.h"

namespace calque::math {

/// (center + P((x - m) / (x + m))) / (1 + c x) as an unevaluated sum, for x >= 0; the product of both denominators must
/// be finite.
template <FloatLane F, std::size_t N>
Pair<F> over_linear(const F& x, scalar_t<F> c, scalar_t<F> m, scalar_t<F> center,
                    const std::array<scalar_t<F>, N>& coefficients) {
  using T = scalar_t<F>;
  // One reciprocal for both quotients.
  const F plus = x + m;
  const F cx = x * c;
  const Pair<F> weight = two_sum(F(1), cx);
  const F weight_low = weight.low + fma(x, c, -cx);
  const F reciprocal = T(1) / (plus * weight.high);
  const F inverse_plus = reciprocal * weight.high;
  const F ratio = (x - m) * inverse_plus;
  // x - m = ratio (x + m) up to the roundings above.
  const F t = fma(fma(-ratio, x, fma(ratio + T(1), F(-m), x)), inverse_plus, ratio);
  const Pair<F> scaled = quick_two_sum(F(center), horner(t, coefficients));
  const F inverse = reciprocal * plus;
  const F q = scaled.high * inverse;
  return {q, (fma(-q, weight.high, scaled.high) + fma(-q, weight_low, scaled.low)) * inverse};
}

/// The largest argument of `over_linear` that is used; functions of larger ones have simpler forms.
template <class T>
inline constexpr T kLinearTop = sizeof(T) == 4 ? T(0x1p20) : T(0x1p50);

/// (q.high + q.low) e^(r.high + r.low), scaled by 2^-r.exponent, as an unevaluated sum.
template <FloatLane F>
Pair<F> times_exp(const Pair<F>& q, const ExpReduction<F>& r) {
  const F curve = multiply_add(r.high * r.high, polynomial(r.high, ExpConstants<scalar_t<F>>::kExp),
                               multiply_add(r.low, r.high, r.low));
  return {q.high, fma(q.high, r.high, fma(q.high, curve, multiply_add(q.low, r.high, q.low)))};
}

/// e^(x^2) erfc(x), which does not underflow.
template <FloatLane F>
F erfcx(const F& x) {
  using T = scalar_t<F>;
  using C = NormalConstants<T>;
  const F a = abs(x);
  const Pair<F> q =
      over_linear(where(a > F(kLinearTop<T>), F(kLinearTop<T>), a), T(1.125), T(3.75), T(0.75), C::kErfcx);
  const F near = q.high + q.low;
  return with_cold_path(
      !((x >= F(0)) & (x <= F(kLinearTop<T>))), near,
      [](const F& v, const F& positive) {
        // 2 e^(x^2) - erfcx(-x) below zero, 1 / (x sqrt(pi)) far above.
        constexpr T kTop = sizeof(T) == 4 ? T(10) : T(27);
        const F b = where(v < F(-kTop), F(kTop), where(v < F(0), -v, F(0)));
        const Pair<F> square = two_product(b, b);
        const ExpPair<F> e = exp_pair(square.high, square.low);
        const Pair<F> power{scale(e.high, e.exponent), scale(e.low, e.exponent)};
        const F below = (power.high + (power.low - T(0.5) * positive)) * T(2);
        const F above = F(T(0.564189583547756287L)) / v;
        return where(is_nan(v), v, where(v < F(0), below, above));
      },
      x, near);
}

/// ndtr(-a) e^(a^2 / 2) for a >= 0, as an unevaluated sum; what it is at kLinearTop for larger a.
template <FloatLane F>
Pair<F> scaled_tail(const F& a) {
  using T = scalar_t<F>;
  return over_linear(where(a > F(kLinearTop<T>), F(kLinearTop<T>), a), T(0.796875), T(4), T(0.375),
                     NormalConstants<T>::kTail);
}

/// ndtr(-a) = 2^exponent (high + low), given `scaled_tail`; for a beyond kTailTop what it is there, nearly 0.
template <FloatLane F>
ExpPair<F> tail_of(const F& a, const Pair<F>& scaled) {
  using T = scalar_t<F>;
  constexpr T kTop = sizeof(T) == 4 ? T(15) : T(39);
  const F b = where(a > F(kTop), F(kTop), a);
  const Pair<F> square = two_product(b, b);
  const ExpReduction<F> r = reduce_exp(square.high * T(-0.5), square.low * T(-0.5));
  const Pair<F> product = times_exp(scaled, r);
  return {r.exponent, product.high, product.low};
}

/// The distribution function of the standard normal distribution.
template <FloatLane F>
F ndtr(const F& x) {
  const F a = abs(x);
  const ExpPair<F> e = tail_of(a, scaled_tail(a));
  const F tail = scale(e.high + e.low, e.exponent);
  return where(x < F(0), tail, F(1) - tail);
}

/// The logarithm of ndtr: log(e^(x^2 / 2) ndtr(x)) - x^2 / 2 below zero, else log(1 - ndtr(-x)).
template <FloatLane F>
F log_ndtr(const F& x) {
  using T = scalar_t<F>;
  constexpr T kTiny = sizeof(T) == 4 ? T(0x1p-30) : T(0x1p-60);
  const F a = abs(x);
  const mask_t<F> negative = x < F(0);
  const Pair<F> q = scaled_tail(a);
  const ExpPair<F> e = tail_of(a, q);
  const Pair<F> sum = quick_two_sum(e.high, e.low);
  const F tail = scale(sum.high, e.exponent);
  const F tail_low = scale(sum.low, e.exponent);
  const Pair<F> below = quick_two_sum(F(-1), q.high);
  const mask_t<F> tiny = (x >= F(0)) & (tail < F(kTiny));
  const Pair<F> argument{where(negative, below.high, where(tiny, F(-0.5), -tail)),
                         where(negative, below.low + q.low, where(tiny, F(0), -tail_low))};
  const Pair<F> logarithm = log1p_pair(argument);
  const F half = a * T(-0.5);
  const F square = half * a;
  // From there on the rest is negligible, and the square may be infinite.
  const mask_t<F> huge = square < F(-kLinearTop<T> * kLinearTop<T>);
  const F square_low = where(huge, F(0), product_error(half, a, square));
  const Pair<F> total = two_sum(square, logarithm.high);
  const F far = where(huge, square, total.high + (total.low + (logarithm.low + square_low)));
  return where(negative, far, where(tiny, -tail, logarithm.high + logarithm.low));
}

/// The inverse of ndtr on (0, 1): infinite at its ends, NaN beyond.
///
/// y = q (5/2 + P(q^2)) for q = p - 1/2 up to 1/4; in the tails r (1 + P((r - m) / (r + m))) with r = sqrt(-log p) of
/// the smaller of p and 1 - p (the variables of M. Wichura, "Algorithm AS 241", Applied Statistics 37, 1988). The
/// rounding error of r is corrected by a slope.
template <FloatLane F>
F ndtri(const F& p) {
  using T = scalar_t<F>;
  using C = NormalConstants<T>;
  constexpr T kMiddle = sizeof(T) == 4 ? T(2) : T(3);
  const F q = p - T(0.5);
  const mask_t<F> center = abs(q) <= F(0.25);
  const F side = where(q < F(0), p, T(1) - p);
  const mask_t<F> inside = (side > F(0)) & !center;
  const Pair<F> r = square_root(negate(log_pair(where(inside, side, F(0.25)))));
  const F plus = r.high + kMiddle;
  const F t = (r.high - kMiddle) / plus;
  // r - m - t (r + m)
  const F rest = fma(-t, r.high, fma(t + T(1), F(-kMiddle), r.high));
  const F polynomial = either_horner(center, where(center, q * q, t), C::kCenter, C::kQuantile);
  const F slope = horner(t, C::kSlope);
  const F by_t = (slope - (polynomial + T(1))) * (plus * T(0.5 / kMiddle));
  const F tail = r.high + fma(r.high, polynomial, fma(r.low, slope, rest * by_t));
  const F near = fma(q, polynomial, q * T(2.5));
  const F far = where(inside, tail, where(side == F(0), F(kInfinity<T>), F(kNaN<T>)));
  return where(center, near, flip_sign(far, q));
}

}  // namespace calque::math
