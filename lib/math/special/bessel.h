// i0, i0e, i1, i1e: the modified Bessel functions of the first kind, also times e^-|x|.
//
// Up to a split, I0 and I1 / x are polynomials in (x / 2)^2, and e^-x times them in x; from there on, sqrt(x) e^-x I in
// 1 / x. Both variables are centered, so that the polynomials are well conditioned.
#pragma once

#include "math/coefficients/bessel.h"
#include "math/elementary/exponential.h"

namespace calque::math {

/// The polynomials of order 0 or 1.
template <class T, int kOrder>
struct BesselPolynomials {
  static constexpr const auto& in_square() {
    if constexpr (kOrder == 0) {
      return BesselConstants<T>::kI0InSquare;
    } else {
      return BesselConstants<T>::kI1InSquare;
    }
  }
  static constexpr const auto& scaled() {
    if constexpr (kOrder == 0) {
      return BesselConstants<T>::kI0Scaled;
    } else {
      return BesselConstants<T>::kI1Scaled;
    }
  }
  static constexpr const auto& large() {
    if constexpr (kOrder == 0) {
      return BesselConstants<T>::kI0Large;
    } else {
      return BesselConstants<T>::kI1Large;
    }
  }
};

/// The least argument of the polynomials in 1 / x.
template <class T>
inline constexpr T kBesselSplit = sizeof(T) == 4 ? T(4) : T(8);

/// I0(x) or I1(x).
template <int kOrder, FloatLane F>
F bessel_i(const F& x) {
  using T = scalar_t<F>;
  using P = BesselPolynomials<T, kOrder>;
  constexpr T kSplit = kBesselSplit<T>;
  // From here on the result is infinite.
  constexpr T kTop = sizeof(T) == 4 ? T(93) : T(720);
  const F a = where(abs(x) > F(kTop), F(kTop), abs(x));
  const mask_t<F> small = a < F(kSplit);
  const F half = a * T(0.5);
  const F square = half * half;
  const F inverse = T(1) / where(a < F(kOrder + 1), F(kOrder + 1), a);
  const F variable = where(small, square, fma(inverse, F(2 * kSplit), F(-1)));
  const F p = either_horner(small, variable, P::in_square(), P::large());
  // The logarithmic derivative by the square, roughly, times the rounding error of the square.
  const F slope = inverse * (kOrder == 0 ? T(2) - inverse : T(2) - T(3) * inverse);
  const F correction = product_error(half, half, square) * slope;
  const F near = fma(p, correction, p);
  const ExpPair<F> e = exp_pair(a);
  const F q = sqrt(inverse) * p;
  const F far = scale(fma(q, e.high, q * e.low), e.exponent);
  if constexpr (kOrder == 0) {
    return where(small, near, far);
  } else {
    return flip_sign(where(small, near * a, far), x);
  }
}

/// e^-|x| I0(x) or e^-|x| I1(x).
template <int kOrder, FloatLane F>
F bessel_i_scaled(const F& x) {
  using T = scalar_t<F>;
  using P = BesselPolynomials<T, kOrder>;
  constexpr T kSplit = kBesselSplit<T>;
  constexpr T kHalf = kSplit / 2;
  const F a = abs(x);
  const mask_t<F> small = a < F(kSplit);
  const F beyond = where(small, F(kSplit), a), inverse = T(1) / beyond;
  const F u = fma(a, F(1 / kHalf), F(-1));
  const F p =
      either_horner(a >= F(kSplit), where(small, u, fma(inverse, F(2 * kSplit), F(-1))), P::large(), P::scaled());
  // x = kHalf (u + 1) + low, and the derivative is about -I0^2 or (x / 4 - 1) I1 / x.
  const F low = fma(u + T(1), F(-kHalf), a);
  const F slope = kOrder == 0 ? -p : fma(a, F(0.25), F(-1));
  const F near = fma(low * slope, p, p);
  // Not by the root of the reciprocal, which fast_math flushes to zero where it is subnormal.
  const F far = p / sqrt(beyond);
  if constexpr (kOrder == 0) {
    return where(small, near, far);
  } else {
    return flip_sign(where(small, near * a, far), x);
  }
}

/// The modified Bessel function of the first kind of order 0.
template <FloatLane F>
F i0(const F& x) {
  return bessel_i<0>(x);
}

/// e^-|x| i0(x), which does not overflow.
template <FloatLane F>
F i0e(const F& x) {
  return bessel_i_scaled<0>(x);
}

/// The modified Bessel function of the first kind of order 1.
template <FloatLane F>
F i1(const F& x) {
  return bessel_i<1>(x);
}

/// e^-|x| i1(x), which does not overflow.
template <FloatLane F>
F i1e(const F& x) {
  return bessel_i_scaled<1>(x);
}

}  // namespace calque::math
