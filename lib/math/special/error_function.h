// erf, erfc, erf_inv.
#pragma once

#include "math/coefficients/error_function.h"
#include "math/elementary/exponential.h"
#include "math/elementary/logarithm.h"

namespace calque::math {

/// The error function: x + x q(x^2) up to 1; beyond, 1 - 2^(log2 erfc |x|), where the logarithm plus 3 is a polynomial
/// in |x| - 1: it is small where erfc is large, so that its rounding error is negligible.
template <FloatLane F>
F erf(const F& x) {
  using T = scalar_t<F>;
  using C = ErrorFunctionConstants<T>;
  using Format = FloatFormat<T>;
  // From here on the result is 1.
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

/// 1 - erf(x), accurate where it is small: e^(-x^2) (5/4 + P((x - 3) / (x + 3))) / (1 + 2 x) from 1/2 on.
template <FloatLane F>
F erfc(const F& x) {
  using T = scalar_t<F>;
  using C = ErrorFunctionConstants<T>;
  // From here on the result is 0.
  constexpr T kTop = sizeof(T) == 4 ? T(10.2) : T(27.5);
  const F a = abs(x);
  // erf may exceed 1/2, where its rounding error would dominate the difference.
  const Pair<F> rest = quick_two_sum(F(1), -x);
  const F near = rest.high + fma(-x, horner(x * x, C::kErfSmall), rest.low);
  const F top = where(a > F(kTop), F(kTop), a);
  const F b = where(a < F(0.5), F(0.5), top);
  // One reciprocal for both quotients.
  const F plus = b + T(3);
  const Pair<F> weight = quick_two_sum(b + b, F(1));
  const F reciprocal = T(1) / (plus * weight.high);
  const F inverse_plus = reciprocal * weight.high;
  const F ratio = (b - T(3)) * inverse_plus;
  // b - 3 = ratio (b + 3) up to the roundings above.
  const F t = fma(fma(-ratio, b, fma(ratio + T(1), F(-3), b)), inverse_plus, ratio);
  const Pair<F> scaled = quick_two_sum(F(1.25), horner(t, C::kErfcScaled));
  const F inverse = reciprocal * plus;
  const F q = scaled.high * inverse;
  const F q_low = (fma(-q, weight.high, scaled.high) + fma(-q, weight.low, scaled.low)) * inverse;
  // The quotient times e^r, as the quotient plus its product with e^r - 1.
  const Pair<F> square = two_product(b, b);
  const ExpReduction<F> e = reduce_exp(-square.high, -square.low);
  const F curve =
      multiply_add(e.high * e.high, polynomial(e.high, ExpConstants<T>::kExp), multiply_add(e.low, e.high, e.low));
  const F tail = scale(q + fma(q, e.high, fma(q, curve, multiply_add(q_low, e.high, q_low))), e.exponent);
  const F far = where(x < F(0), T(2) - tail, tail);
  return where(a < F(0.5), near, far);
}

/// The inverse of erf on (-1, 1): infinite at its ends, NaN beyond.
///
/// x (1 + P(-log(1 - x^2))) up to 0.9; beyond, s (1 + P((s - 2) / (s + 2))) with s = sqrt(-log(1 - |x|)). In these
/// variables the nearest singularities are far away.
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
