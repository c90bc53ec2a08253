// sin, cos, tan.
//
// x = n pi/2 + r with |r| <= pi/4 as a pair. While |n| fits the significand, x - n P with P = fl(pi/2) is exact (a
// multiple of the smaller ulp, below 1), so three parts of pi/2 leave an error far below the distance of any
// float from a multiple of pi/2. Beyond kTrigLimit, huge_argument.h has the reduction, on a cold path. sin and cos of
// one argument share everything but the final selection.
#pragma once

#include "math/coefficients/trigonometric.h"
#include "math/elementary/huge_argument.h"
#include "math/support.h"

namespace calque::math {

/// Largest |x| that reduce_trig_moderate accepts.
template <class T>
inline constexpr T kTrigLimit = sizeof(T) == 4 ? T(0x1p16) : T(0x1p30);

template <FloatLane F>
TrigReduction<F> reduce_trig_moderate(const F& x) {
  using T = scalar_t<F>;
  using C = TrigConstants<T>;
  using Format = FloatFormat<T>;
  const F shifted = multiply_add(x, C::kTwoOverPi, Format::kRoundingShift);
  const F n = shifted - Format::kRoundingShift;
  const F first = fma(n, -C::kPiOver2_0, x);
  // first - n P1, exact except for the final product with P2. `first` is 0 or a multiple of ulp(1/2) (it
  // is x where n is 0), and n P1 is below 1/2, so the order of the two does not matter.
  const Pair<F> second = two_product(n, F(-C::kPiOver2_1));
  const Pair<F> sum = quick_two_sum(first, second.high);
  const F low = sum.low + multiply_add(n, -C::kPiOver2_2, second.low);
  return {to_bits(shifted), sum.high, low};
}

/// The reduction of every finite x >= 0.
template <FloatLane F>
TrigReduction<F> reduce_trig(const F& x) {
  const TrigReduction<F> r = reduce_trig_moderate(x);
  const auto [quadrant, high, low] = with_cold_path(
      x > F(kTrigLimit<scalar_t<F>>), std::tuple{r.quadrant, r.high, r.low},
      [](const F& v) {
        const TrigReduction<F> huge = reduce_trig_huge(v);
        return std::tuple{huge.quadrant, huge.high, huge.low};
      },
      x);
  return {quadrant, high, low};
}

/// sin(r) as high + low: r and the correction to add.
template <FloatLane F>
Pair<F> sin_reduced(const F& high, const F& low, const F& square) {
  const F tail = multiply_add(high * square, polynomial(square, TrigConstants<scalar_t<F>>::kSin), low);
  return {high, tail};
}

/// As above, but more precise: the rounding errors of r^3 are compensated.
template <FloatLane F>
Pair<F> sin_reduced_precisely(const F& high, const F& low, const F& square) {
  using T = scalar_t<F>;
  const F cube = high * square;
  const F cube_low = fma(high, product_error(high, high, square), product_error(high, square, cube));
  return {high, fma(cube, polynomial(square, TrigConstants<T>::kSin), fma(cube_low, T(-1.0 / 6), low))};
}

/// cos(r) as high + low: 1 - r^2 / 2 rounded, and the correction to add.
template <FloatLane F>
Pair<F> cos_reduced(const F& high, const F& low, const F& square) {
  using T = scalar_t<F>;
  const F half = high * T(-0.5);
  const F sum = fma(half, high, T(1));
  const F sum_low = fma(half, high, T(1) - sum);
  const F tail =
      multiply_add(square * square, polynomial(square, TrigConstants<T>::kCos), multiply_add(-high, low, sum_low));
  return {sum, tail};
}

/// sin of the reduced argument, negated where `sign` is negative.
template <FloatLane F>
F sin_of(const TrigReduction<F>& r, const F& sign) {
  using T = scalar_t<F>;
  using I = int_t<F>;
  const F square = r.high * r.high;
  const Pair<F> s = sin_reduced(r.high, r.low, square);
  const Pair<F> c = cos_reduced(r.high, r.low, square);
  const mask_t<F> even = (r.quadrant & I(1)) == I(0);
  const F y = where(even, s.high, c.high) + where(even, s.low, c.low);
  constexpr int kBitOneToSign = static_cast<int>(8 * sizeof(T)) - 2;
  return flip_sign(y, from_bits((r.quadrant << I(kBitOneToSign)) ^ to_bits(sign)));
}

template <FloatLane F>
F cos_of(const TrigReduction<F>& r) {
  return sin_of(TrigReduction<F>{r.quadrant + int_t<F>(1), r.high, r.low}, F(0));
}

template <FloatLane F>
F tan_of(const TrigReduction<F>& r, const F& sign) {
  using I = int_t<F>;
  const F square = r.high * r.high;
  const Pair<F> s0 = sin_reduced_precisely(r.high, r.low, square);
  const Pair<F> c0 = cos_reduced(r.high, r.low, square);
  const Pair<F> s = quick_two_sum(s0.high, s0.low);
  const Pair<F> c = quick_two_sum(c0.high, c0.low);
  const mask_t<F> even = (r.quadrant & I(1)) == I(0);
  const Pair<F> y = divide(where(even, s, c), where(even, c, negate(s)));
  return flip_sign(y.high + y.low, sign);
}

/// sin(x) or, for shift = 1/2, cos(x), with an error of about 4 ulp: x = (n + shift) pi + r with |r| <= pi/2, so that
/// an odd polynomial is enough. Beyond the limit the result is `huge(x)`.
template <FloatLane F, class Huge>
F sin_fast(const F& x, scalar_t<F> shift, Huge huge) {
  using T = scalar_t<F>;
  using C = TrigConstants<T>;
  using Format = FloatFormat<T>;
  using I = int_t<F>;
  const F turns = fma(x, C::kTwoOverPi * T(0.5), -shift);
  const F shifted = turns + Format::kRoundingShift;
  // In units of pi / 2: an integer.
  const F n = fma(shifted - Format::kRoundingShift, T(2), T(2) * shift);
  const F r = fma(n, -C::kPiOver2_2, fma(n, -C::kPiOver2_1, fma(n, -C::kPiOver2_0, x)));
  const F square = r * r;
  const F y = fma(r * square, horner(square, C::kSinFast), r);
  // cos(x) = sin(x + pi / 2): the angle is a quarter turn ahead.
  constexpr int kBitZeroToSign = static_cast<int>(8 * sizeof(T)) - 1;
  const I sign = (to_bits(shifted) + I(shift == T(0) ? 0 : 1)) << I(kBitZeroToSign);
  const F fast = from_bits(to_bits(y) ^ sign);
  return with_cold_path(abs(x) > F(kTrigLimit<T>), fast, [huge](const F& v) { return huge(v); }, x);
}

/// The sine of x (radians).
template <FloatLane F>
F sin(const F& x) {
  const auto huge = [](const F& v) { return sin_of(reduce_trig_huge(abs(v)), v); };
  if constexpr (kApproximate<F>) return sin_fast(x, scalar_t<F>(0), huge);
  return sin_of(reduce_trig(abs(x)), x);
}

/// The cosine of x (radians).
template <FloatLane F>
F cos(const F& x) {
  const auto huge = [](const F& v) { return cos_of(reduce_trig_huge(abs(v))); };
  if constexpr (kApproximate<F>) return sin_fast(x, scalar_t<F>(0.5), huge);
  return cos_of(reduce_trig(abs(x)));
}

/// The tangent of x (radians).
template <FloatLane F>
F tan(const F& x) {
  const TrigReduction<F> r = reduce_trig(abs(x));
  if constexpr (!kApproximate<F>) return tan_of(r, x);
  using T = scalar_t<F>;
  using C = TrigConstants<T>;
  using I = int_t<F>;
  const F angle = r.high + r.low;
  const F square = angle * angle;
  const F s = fma(angle * square, polynomial(square, C::kSin), angle);
  const F c = fma(square, fma(square, polynomial(square, C::kCos), T(-0.5)), T(1));
  const mask_t<F> even = (r.quadrant & I(1)) == I(0);
  return flip_sign(where(even, s, c) / where(even, c, -s), x);
}

/// sin(pi x) / (pi x), 1 at 0; NaN of infinities.
template <FloatLane F>
F sinc(const F& x) {
  using T = scalar_t<F>;
  using C = TrigConstants<T>;
  using Format = FloatFormat<T>;
  using I = int_t<F>;
  const Pair<F> pi{F(C::kPi_0), F(C::kPi_1)};
  const F a = abs(x);
  // Exact: a less whole turns is in [-1, 1], less quarter turns in [-1/4, 1/4].
  const F turn = a - rint(a * T(0.5)) * T(2);
  const F shifted = turn * T(2) + Format::kRoundingShift;
  const F r = turn - (shifted - Format::kRoundingShift) * T(0.5);
  const I quadrant = to_bits(shifted);
  const Pair<F> angle = multiply(pi, r);
  const F square = angle.high * angle.high;
  const Pair<F> s = sin_reduced(angle.high, angle.low, square);
  const Pair<F> c = cos_reduced(angle.high, angle.low, square);
  const mask_t<F> even = (quadrant & I(1)) == I(0);
  // Beyond the limit x is an integer: the sine is 0, and pi x might overflow.
  const F divisor = where(a < F(T(1) / std::numeric_limits<T>::epsilon()), a, F(1));
  const Pair<F> y = divide(where(even, s, c), multiply(pi, divisor));
  constexpr int kBitOneToSign = static_cast<int>(8 * sizeof(T)) - 2;
  const F signed_y = flip_sign(y.high + y.low, from_bits(quadrant << I(kBitOneToSign))) + F(0);
  return where(a < F(sizeof(T) == 4 ? T(0x1p-14) : T(0x1p-28)), F(1), signed_y);
}

}  // namespace calque::math
