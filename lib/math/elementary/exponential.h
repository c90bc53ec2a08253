// exp, exp2, expm1.
//
// x = n ln 2 + r with |r| <= ln 2 / 2, e^x = 2^n e^r and e^r - 1 = r + r^2 s(r) with s a polynomial. n is taken from
// the low bits of x log2(e) + 1.5 * 2^m, so that no conversion is needed, and x - n L is exact for L = fl(ln 2): it is
// a multiple of the ulp of the smaller of x and L, and less than 1/2.
#pragma once

#include "math/coefficients/exponential.h"
#include "math/coefficients/logarithm.h"
#include "math/support.h"

namespace calque::math {

/// n and the remainder of x: x = n ln 2 + high + low.
template <FloatLane F>
struct ExpReduction {
  F n;
  int_t<F> exponent;
  F high;
  F low;
};

template <FloatLane F>
ExpReduction<F> reduce_exp(const F& x) {
  using C = ExpConstants<scalar_t<F>>;
  using Format = FloatFormat<scalar_t<F>>;
  const F shifted = multiply_add(x, C::kLog2E, Format::kRoundingShift);
  const F n = shifted - Format::kRoundingShift;
  const F first = fma(n, -C::kLn2_0, x);
  const F high = fma(n, -C::kLn2_1, first);
  const F low = fma(n, -C::kLn2_1, first - high);
  return {n, to_bits(shifted) - int_t<F>(Format::kRoundingShiftBits), high, low};
}

/// The reduction of x + x_low with |x_low| <= ulp(x), which may be far larger than an ulp of the remainder.
template <FloatLane F>
ExpReduction<F> reduce_exp(const F& x, const F& x_low) {
  using C = ExpConstants<scalar_t<F>>;
  using Format = FloatFormat<scalar_t<F>>;
  const F shifted = multiply_add(x, C::kLog2E, Format::kRoundingShift);
  const F n = shifted - Format::kRoundingShift;
  const Pair<F> rest = quick_two_sum(fma(n, -C::kLn2_0, x), fma(n, -C::kLn2_1, x_low));
  return {n, to_bits(shifted) - int_t<F>(Format::kRoundingShiftBits), rest.high, rest.low};
}

/// e^(x + x_low) = 2^exponent (high + low), high in [0.7, 1.42), to about 2^-4 ulp of high. |x| must be below 2^20 or
/// so (f32: 2^12).
template <FloatLane F>
struct ExpPair {
  int_t<F> exponent;
  F high;
  F low;
};

template <FloatLane F>
ExpPair<F> exp_pair_reduced(const ExpReduction<F>& r) {
  const F tail = multiply_add(r.high * r.high, polynomial(r.high, ExpConstants<scalar_t<F>>::kExp),
                              multiply_add(r.low, r.high, r.low));
  const Pair<F> sum = quick_two_sum(F(1), r.high);
  const Pair<F> result = quick_two_sum(sum.high, sum.low + tail);
  return {r.exponent, result.high, result.low};
}

template <FloatLane F>
ExpPair<F> exp_pair(const F& x) {
  return exp_pair_reduced(reduce_exp(x));
}

template <FloatLane F>
ExpPair<F> exp_pair(const F& x, const F& x_low) {
  return exp_pair_reduced(reduce_exp(x, x_low));
}

/// e^(x + x_low), for the same x; rounded once more where it is subnormal.
template <FloatLane F>
F exp_of_pair(const F& x, const F& x_low) {
  const ExpPair<F> e = exp_pair(x, x_low);
  return scale(e.high + e.low, e.exponent);
}

/// (e^r - 1 - r) / r^2 for |r| <= ln 2 / 2, accurate enough for e^r only.
template <FloatLane F>
F exp_polynomial(const F& r) {
  using C = ExpConstants<scalar_t<F>>;
  if constexpr (kApproximate<F>) {
    return polynomial(r, C::kExpFast);
  } else {
    return polynomial(r, C::kExpAlone);
  }
}

/// e^x for all x, including NaN and results that overflow, are subnormal or 0.
template <FloatLane F>
F exp_at_limits(const F& x) {
  using T = scalar_t<F>;
  using I = int_t<F>;
  constexpr T kTop = sizeof(T) == 4 ? T(89) : T(710);
  constexpr T kBottom = sizeof(T) == 4 ? T(-104) : T(-746);
  const ExpPair<F> e = exp_pair(where(x > F(kTop), F(kTop), where(x < F(kBottom), F(kBottom), x)));
  const F y = e.high + e.low;
  const mask_t<F> small = x < F(0);
  return where(small, scale_down(y, e.exponent), scale(y, where(small, I(0), e.exponent)));
}

/// e^x.
template <FloatLane F>
F exp(const F& x) {
  using T = scalar_t<F>;
  using C = ExpConstants<T>;
  using Format = FloatFormat<T>;
  using I = int_t<F>;
  // Within the limit the result is normal and 2^n can be added to the exponent field.
  constexpr T kLimit = sizeof(T) == 4 ? T(87) : T(708);
  const F shifted = multiply_add(x, C::kLog2E, Format::kRoundingShift);
  const F n = shifted - Format::kRoundingShift;
  // n times the leading part of ln 2 is exact, so that the result does not depend on fusing.
  using L = LogConstants<T>;
  const F r = multiply_add(n, -L::kLn2_1, multiply_add(n, -L::kLn2_0, x));
  const F y = [&] {
    const F p = exp_polynomial(r);
    if constexpr (sizeof(T) == 4) {
      return fma(multiply_add(p, r, T(1)), r, T(1));
    } else {
      // One product fewer, since the polynomial computed the square; 0.1 ulp less accurate.
      return T(1) + multiply_add(r * r, p, r);
    }
  }();
  const F fast = from_bits(to_bits(y) + (to_bits(shifted) << I(Format::kMantissaBits)));
  return with_cold_path(!(abs(x) <= F(kLimit)), fast, [](const F& v) { return exp_at_limits(v); }, x);
}

/// 2^x.
template <FloatLane F>
F exp2(const F& x) {
  using T = scalar_t<F>;
  using C = ExpConstants<T>;
  using Format = FloatFormat<T>;
  using I = int_t<F>;
  constexpr T kLimit = sizeof(T) == 4 ? T(126) : T(1022);
  const F shifted = x + Format::kRoundingShift;
  const F r = x - (shifted - Format::kRoundingShift);
  const F y = fma(polynomial(r, C::kExp2), r, T(1));
  const F fast = from_bits(to_bits(y) + (to_bits(shifted) << I(Format::kMantissaBits)));
  // Where the result near 2^-126 may round below 2^-126, the sum above is not a normal number: the lower limit is one
  // less.
  return with_cold_path(
      !((x <= F(kLimit)) & (x >= F(1 - kLimit))), fast,
      [](const F& v) {
        constexpr T kTop = sizeof(T) == 4 ? T(129) : T(1025);
        constexpr T kBottom = sizeof(T) == 4 ? T(-151) : T(-1076);
        const F limited = where(v > F(kTop), F(kTop), where(v < F(kBottom), F(kBottom), v));
        const F moved = limited + Format::kRoundingShift;
        const F rest = limited - (moved - Format::kRoundingShift);
        const F power = fma(polynomial(rest, C::kExp2), rest, T(1));
        return scale(power, to_bits(moved) - I(Format::kRoundingShiftBits));
      },
      x);
}

/// e^x - 1, accurate near 0: (2^n - 1) + 2^n r + 2^n (e^r - 1 - r), largest first.
template <FloatLane F>
F expm1(const F& x) {
  using T = scalar_t<F>;
  constexpr T kTop = sizeof(T) == 4 ? T(89) : T(710);
  constexpr T kBottom = sizeof(T) == 4 ? T(-20) : T(-40);
  constexpr T kTiny = sizeof(T) == 4 ? T(0x1p-25) : T(0x1p-54);
  const F limited = where(x > F(kTop), F(kTop), where(x < F(kBottom), F(kBottom), x));
  const ExpReduction<F> r = reduce_exp(limited);
  const F tail =
      multiply_add(r.high * r.high, polynomial(r.high, ExpConstants<T>::kExp), multiply_add(r.low, r.high, r.low));
  // Halved, since 2^n overflows slightly before the result does.
  const F power = power_of_two<F>(r.exponent - int_t<F>(1));
  const F start = power - T(0.5);
  const F start_low = (power - start) - T(0.5);
  const Pair<F> sum = quick_two_sum(start, power * r.high);
  const F half = sum.high + fma(power, tail, sum.low + start_low);
  return where(abs(x) < F(kTiny), x, half + half);
}

/// e^x - 1 as a pair for x in [0, 60], accurate near 0. x must not be subnormal.
template <FloatLane F>
Pair<F> expm1_pair(const F& x) {
  using T = scalar_t<F>;
  const ExpReduction<F> r = reduce_exp(x);
  const F tail =
      multiply_add(r.high * r.high, polynomial(r.high, ExpConstants<T>::kExp), multiply_add(r.low, r.high, r.low));
  const F power = power_of_two<F>(r.exponent);
  const Pair<F> sum = quick_two_sum(power - T(1), power * r.high);
  return quick_two_sum(sum.high, fma(power, tail, sum.low));
}

/// 1 / (1 + e^-x) with an error of about 4 ulp.
template <FloatLane F>
F sigmoid_fast(const F& x) {
  using T = scalar_t<F>;
  // The range in which e^-x is finite.
  constexpr T kLimit = sizeof(T) == 4 ? T(88) : T(709);
  const F limited = where(x < F(-kLimit), F(-kLimit), where(x > F(kLimit), F(kLimit), x));
  const ExpReduction<F> r = reduce_exp(-limited);
  const F e = fma(fma(exp_polynomial(r.high), r.high, T(1)), r.high, T(1));
  return T(1) / fma(e, power_of_two<F>(r.exponent), T(1));
}

/// 1 / (1 + e^-x), the logistic function.
template <FloatLane F>
F sigmoid(const F& x) {
  if constexpr (kApproximate<F>) return sigmoid_fast(x);
  using T = scalar_t<F>;
  // e = e^-|x|; the result is 1 / (1 + e) or e / (1 + e). Below kBottom e^x is the result.
  constexpr T kBottom = sizeof(T) == 4 ? T(-104) : T(-746);
  const F magnitude = -abs(x);
  const ExpPair<F> e = exp_pair(where(magnitude < F(kBottom), F(kBottom), magnitude));
  const int_t<F> half = e.exponent >> int_t<F>(1);
  const F near = power_of_two<F>(half);
  const F far = power_of_two<F>(e.exponent - half);
  // Only the final product with `far` may round a subnormal.
  const F high = e.high * near;
  const F low = e.low * near;
  const Pair<F> sum = quick_two_sum(F(1), high * far);
  const F sum_low = fma(low, far, sum.low);
  const F reciprocal = T(1) / sum.high;
  const mask_t<F> negative = x < F(0);
  const F numerator = where(negative, high, F(1));
  const F numerator_low = where(negative, low, F(0));
  const F q = numerator * reciprocal;
  const F rest = fma(-q, sum.high, numerator) + fma(-q, sum_low, numerator_low);
  return fma(rest, reciprocal, q) * where(negative, far, F(1));
}

}  // namespace calque::math
