// asin, acos, atan, atan2.
//
// Each is base + (r + r^3 P(r^2)) with base a multiple of pi/4 kept in two parts and r reduced to [-1/2, 1/2] (asin,
// acos: by asin a = pi/2 - 2 asin sqrt((1 - a) / 2)) or [-1, 1] (atan: by atan a = pi/2 - atan(1 / a)). The
// rounding error of r is carried along.
#pragma once

#include "math/coefficients/trigonometric.h"
#include "math/support.h"

namespace calque::math {

/// |x| > 1/2, and r with asin |x| = r (small) or pi/2 - 2 r (large), its square and its rounding error.
template <FloatLane F>
struct AsinReduction {
  mask_t<F> large;
  F r;
  F low;
  F tail;
};

template <FloatLane F>
AsinReduction<F> reduce_asin(const F& magnitude) {
  using T = scalar_t<F>;
  const mask_t<F> large = magnitude > F(0.5);
  const F z = where(large, (T(1) - magnitude) * T(0.5), magnitude * magnitude);
  const F root = sqrt(z);
  const F root_low = fma(-root, root, z) / where(root > F(0), root + root, F(1));
  const F r = where(large, root, magnitude);
  return {large, r, where(large, root_low, F(0)), (r * z) * polynomial(z, TrigConstants<T>::kAsin)};
}

/// The arc sine, NaN outside [-1, 1].
template <FloatLane F>
F asin(const F& x) {
  using C = TrigConstants<scalar_t<F>>;
  const AsinReduction<F> a = reduce_asin(abs(x));
  const F small = a.r + a.tail;
  const Pair<F> sum = quick_two_sum(F(C::kPiOver2_0), -(a.r + a.r));
  const F rest = a.tail + a.low;
  const F large = sum.high + ((sum.low + C::kPiOver2_1) - (rest + rest));
  // Outside [-1, 1] the root is NaN.
  return flip_sign(where(a.large, large, small), x);
}

/// The arc cosine, NaN outside [-1, 1].
template <FloatLane F>
F acos(const F& x) {
  using C = TrigConstants<scalar_t<F>>;
  const AsinReduction<F> a = reduce_asin(abs(x));
  const mask_t<F> negative = x < F(0);
  const mask_t<F> low_half = a.large & negative;
  // pi/2 - x..., 0 + 2 r... or pi - 2 r...
  const F base = where(a.large, where(negative, F(C::kPi_0), F(0)), F(C::kPiOver2_0));
  const F base_low = where(a.large, where(negative, F(C::kPi_1), F(0)), F(C::kPiOver2_1));
  const mask_t<F> subtract = low_half | !(a.large | negative);
  const F factor = where(a.large, F(2), F(1));
  const F signed_factor = where(subtract, -factor, factor);
  const Pair<F> sum = quick_two_sum(base, a.r * signed_factor);
  return sum.high + fma(a.tail + a.low, signed_factor, sum.low + base_low);
}

/// base + sign * atan(r + low), for r in [0, 1].
template <FloatLane F>
F atan_from(const F& r, const F& low, const Pair<F>& base) {
  using T = scalar_t<F>;
  const F z = r * r;
  // The derivative 1 / (1 + z) is close enough to 1 - z / 2 for the correction.
  F correction = low * fma(z, T(-0.5), T(1));
  const F cube = r * z;
  if constexpr (sizeof(T) == 4) {
    // Uncorrected, the rounding errors of the square and the cube would push results near pi/4 beyond 1 ulp. At r = 1
    // the derivative of the tail with respect to the cube is -0.215, with respect to the square -0.143.
    correction = fma(fma(r, product_error(r, r, z), product_error(r, z, cube)), T(-0.19), correction);
  }
  const F tail = fma(cube, horner_rounded_once(z, TrigConstants<T>::kAtan), correction);
  const Pair<F> sum = quick_two_sum(base.high, r);
  return sum.high + ((sum.low + base.low) + tail);
}

/// The arc tangent.
template <FloatLane F>
F atan(const F& x) {
  using T = scalar_t<F>;
  using C = TrigConstants<T>;
  const F magnitude = abs(x);
  const mask_t<F> inverted = magnitude > F(1);
  const F reciprocal = T(-1) / magnitude;
  // The rounding error of the reciprocal, negligible for large x.
  constexpr T kFar = sizeof(T) == 4 ? T(0x1p30) : T(0x1p60);
  const F error = fma(reciprocal, magnitude, T(1)) * reciprocal;
  const F r = where(inverted, reciprocal, magnitude);
  const F low = where(inverted & (magnitude < F(kFar)), error, F(0));
  const Pair<F> base{where(inverted, F(C::kPiOver2_0), F(0)), where(inverted, F(C::kPiOver2_1), F(0))};
  return flip_sign(atan_from(r, low, base), x);
}

/// The angle of a point from t, the quotient of the smaller coordinate by the larger.
template <FloatLane F>
F atan2_from(const Pair<F>& t, const mask_t<F>& swapped, const mask_t<F>& left) {
  using C = TrigConstants<scalar_t<F>>;
  const mask_t<F> subtract = swapped ^ left;
  const Pair<F> base{where(swapped, F(C::kPiOver2_0), where(left, F(C::kPi_0), F(0))),
                     where(swapped, F(C::kPiOver2_1), where(left, F(C::kPi_1), F(0)))};
  return atan_from(where(subtract, -t.high, t.high), where(subtract, -t.low, t.low), base);
}

/// The angle of the point (x, y), in [-pi, pi]; signed zeros and infinities as in C.
template <FloatLane F>
F atan2(const F& y, const F& x) {
  using T = scalar_t<F>;
  // Within these limits the reciprocal of the larger coordinate and the residual of the quotient are normal numbers.
  constexpr T kTiny = sizeof(T) == 4 ? T(0x1p-100) : T(0x1p-950);
  constexpr T kLow = sizeof(T) == 4 ? T(0x1p-60) : T(0x1p-800);
  constexpr T kHigh = sizeof(T) == 4 ? T(0x1p100) : T(0x1p900);
  const F ax = abs(x);
  const F ay = abs(y);
  const mask_t<F> swapped = ay > ax;
  const F larger = where(swapped, ay, ax);
  const F smaller = where(swapped, ax, ay);
  const Pair<F> quotient = divide(Pair<F>{smaller, F(0)}, Pair<F>{larger, F(0)});
  const F fast = flip_sign(atan2_from(quotient, swapped, to_bits(x) < int_t<F>(0)), y);
  const mask_t<F> tame = (larger >= F(kLow)) & (larger <= F(kHigh)) & ((smaller >= F(kTiny)) | (smaller == F(0)));
  return with_cold_path(
      !tame, fast,
      [](const F& b, const F& a) {
        const F aa = abs(a);
        const F ab = abs(b);
        const mask_t<F> exchanged = ab > aa;
        const F large = where(exchanged, ab, aa);
        const F small = where(exchanged, aa, ab);
        const mask_t<F> infinite = large == F(kInfinity<T>);
        const F factor = where(large > F(kHigh), F(1 / kHigh), where(large < F(1), F(1 / kLow), F(1)));
        const F top = where(infinite, where(small == large, F(1), small * T(0)), small * factor);
        const F bottom = where(infinite | (large == F(0)), F(1), large * factor);
        const F q = top / bottom;
        const Pair<F> t{q, fma(-q, bottom, top) / bottom};
        return flip_sign(atan2_from(t, exchanged, to_bits(a) < int_t<F>(0)), b);
      },
      y, x);
}

}  // namespace calque::math
