// trigamma.
//
// From 3 on: 1 / a + 1 / (2 a^2) + P(1 / a^2) / a^3, valid for every a. Below, the recurrence leads to [2, 3), where it
// is a polynomial. Negative arguments are reflected on a cold path. f32 is computed in f64 with shorter polynomials.
#pragma once

#include "math/coefficients/polygamma.h"
#include "math/special/gamma.h"

namespace calque::math {

/// trigamma in f64, with the polynomials of Constants.
template <class Constants, class B>
Lane<double, B> trigamma_with(const Lane<double, B>& x) {
  using F = Lane<double, B>;
  const mask_t<F> positive = x > F(0);
  // trigamma(x) + trigamma(1 - x) = (pi / sin(pi x))^2
  const F a = where(positive, x, 1.0 - x);
  const mask_t<F> below_one = a < F(1);
  const mask_t<F> below_two = a < F(2);
  const mask_t<F> small = a < F(3);
  const F reciprocal = 1.0 / a;
  // 1 / a without the rounding error of the quotient, where that is finite.
  const F error = reciprocal * fma(-reciprocal, a, F(1));
  const F square = reciprocal * reciprocal;
  const F square_low = fma(reciprocal, reciprocal, -square) + 2.0 * (reciprocal * error);
  const F shifted = a + 1.0;
  const F next = where(below_one, 1.0 / (shifted * shifted), F(0));
  const F v = where(below_one, a - 0.5, where(below_two, a - 1.5, a - 2.5));
  const F p = either_horner(a >= F(3), where(small, v, square), Constants::kTrigammaLarge, Constants::kTrigamma);
  const F steps = next + where(below_two & (square < F(0x1p1000)), square_low, F(0));
  const F near = where(below_two, square + (p + steps), p);
  const F far = reciprocal + (error + square * fma(reciprocal, p, F(0.5)));
  const F fast = where(small, near, far);
  return with_cold_path(
      !(positive & (x < F(kInfinity<double>))), fast,
      [](const F& u, const F& mirrored) {
        const F b = abs(u);
        const F sine = sin_of(reduce_pi(b), F(0));
        const Pair<F> s =
            divide(Pair<F>{F(TrigConstants<double>::kPi_0), F(TrigConstants<double>::kPi_1)}, Pair<F>{sine, F(0)});
        const F inverse = 1.0 / u;
        const F negative =
            where(b < F(0x1p-60), inverse * inverse, fma(s.high, s.high, fma(2.0 * s.high, s.low, -mirrored)));
        const F pole = where(trunc(b) == b, F(kInfinity<double>), negative);
        const F edge = where(u == F(kInfinity<double>), F(0), pole);
        return where(is_nan(u), u, edge);
      },
      x, fast);
}

/// The derivative of digamma; infinite at 0 and the negative integers.
template <FloatLane F>
F trigamma(const F& x) {
  using T = scalar_t<F>;
  return convert<T>(trigamma_with<PolygammaConstants<T>>(convert<double>(x)));
}

}  // namespace calque::math
