// erf, erfc, erf_inv.
#pragma once

#include "math/coefficients/error_function.h"
#include "math/exponential.h"
#include "math/logarithm.h"

namespace calque::math {

/// The error function: x + x q(x^2) up to 1, beyond 1 - 2^(log2 erfc |x|) with the logarithm, + 3, from a
/// polynomial in |x| - 1: so it is small where erfc is large, and its rounding error does not count.
template <FloatLane F>
F erf(const F& x) {
  using T = scalar_t<F>;
  using C = ErrorFunctionConstants<T>;
  using Format = FloatFormat<T>;
  // Where the result is 1.
  constexpr T kTop = sizeof(T) == 4 ? T(4) : T(6);
  const F a = abs(x);
  const mask_t<F> small = a < F(1);
  const F v = where(small, a * a, where(a > F(kTop), F(kTop), a) - T(1));
  const F q = [&] {
    if constexpr (kApproximate<F>) {
      return either_polynomial(small, v, C::kErfFast, C::kLog2ErfcFast);
    } else {
      return either_polynomial(small, v, C::kErf, C::kLog2Erfc);
    }
  }();
  const F shifted = q + Format::kRoundingShift;
  const F r = q - (shifted - Format::kRoundingShift);
  const F e = fma(
      [&] {
        if constexpr (kApproximate<F>) {
          return polynomial(r, C::kExp2Fast);
        } else {
          return polynomial(r, C::kExp2);
        }
      }(),
      r, T(1));
  const F power = power_of_two<F>(to_bits(shifted) - int_t<F>(Format::kRoundingShiftBits + 3));
  return flip_sign(where(small, fma(a, q, a), fma(e, -power, T(1))), x);
}

/// 1 - erf(x), accurate where it is small: e^(-x^2) (1 + P((x - 3) / (x + 3))) / (1 + 2 x) from 1/2 on.
template <FloatLane F>
F erfc(const F& x) {
  using T = scalar_t<F>;
  using C = ErrorFunctionConstants<T>;
  // Where the result is 0.
  constexpr T kTop = sizeof(T) == 4 ? T(10.2) : T(27.5);
  const F a = abs(x);
  const F near = T(1) - fma(x, horner(x * x, C::kErfSmall), x);
  const F b = where(a > F(kTop), F(kTop), where(a < F(0.5), F(0.5), a));
  // One reciprocal for both quotients.
  const F plus = b + T(3);
  const Pair<F> weight = quick_two_sum(b + b, F(1));
  const F reciprocal = T(1) / (plus * weight.high);
  const F t = (b - T(3)) * (reciprocal * weight.high);
  const Pair<F> scaled = quick_two_sum(F(1), horner(t, C::kErfcScaled));
  const F inverse = reciprocal * plus;
  const F q = scaled.high * inverse;
  const F q_low = (fma(-q, weight.high, scaled.high) + fma(-q, weight.low, scaled.low)) * inverse;
  const Pair<F> square = two_product(b, b);
  const ExpPair<F> e = exp_pair(-square.high, -square.low);
  const F tail = scale(fma(q, e.high, fma(q, e.low, q_low * e.high)), e.exponent);
  const F far = where(x < F(0), T(2) - tail, tail);
  return where(a < F(0.5), near, where(is_nan(x), x, far));
}

/// The inverse of erf on (-1, 1): infinite at its ends, NaN beyond.
///
/// x (1 + P(-log(1 - x^2))) up to 0.9, beyond s (1 + P((s - 2) / (s + 2))) with s = sqrt(-log(1 - |x|)); in these
/// variables the nearest singularities are far.
template <FloatLane F>
F erf_inv(const F& x) {
  using T = scalar_t<F>;
  using C = ErrorFunctionConstants<T>;
  const F a = abs(x);
  const mask_t<F> center = a <= F(0.9);
  const mask_t<F> inside = a < F(1);
  const F argument = where(center, fma(-x, x, T(1)), where(inside, T(1) - a, F(0.5)));
  const F w = -log_normal(argument, int_t<F>(0));
  const F near = fma(a, horner(w, C::kErfInvCenter), a);
  const F s = sqrt(where(center, F(1), w));
  const F far = fma(s, horner((s - T(2)) / (s + T(2)), C::kErfInvTail), s);
  const F edge = where(a == F(1), F(kInfinity<T>), F(kNaN<T>));
  return flip_sign(where(center, near, where(inside, far, edge)), x);
}

}  // namespace calque::math
