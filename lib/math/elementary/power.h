// pow, cbrt, hypot, rsqrt.
#pragma once

#include "math/coefficients/exponential.h"
#include "math/coefficients/power.h"
#include "math/elementary/logarithm.h"
#include "math/support.h"

namespace calque::math {

/// 1 / sqrt(x): the rounded root and reciprocal, corrected by one step.
template <FloatLane F>
F rsqrt(const F& x) {
  using T = scalar_t<F>;
  if constexpr (kApproximate<F>) return T(1) / sqrt(x);
  using Format = FloatFormat<T>;
  // Subnormals are scaled, so that the residual of the root does not underflow.
  constexpr T kUp = sizeof(T) == 4 ? T(0x1p48) : T(0x1p108);
  constexpr T kUpRoot = sizeof(T) == 4 ? T(0x1p24) : T(0x1p54);
  const mask_t<F> small = x < F(Format::kMinNormal * kUp);
  const F scaled = where(small, x * kUp, x);
  const F root = sqrt(scaled);
  const F y = T(1) / root;
  // A quarter of the residual of the root; the unscaled square might overflow.
  const F half = root * T(0.5);
  const F residual = fma(-half, half, scaled * T(0.25));
  const F step = y * fma(residual * T(-2), y * y, fma(-root, y, T(1)));
  // At 0 and infinity the correction is NaN and y is already correct.
  const F corrected = where(is_nan(step), y, y + step);
  return corrected * where(small, F(kUpRoot), F(1));
}

/// The cube root: x = m 2^(3 q) with m in [1, 8), y near m^(-1/3) from a polynomial and one step, then m y^2 corrected
/// by its residual.
template <FloatLane F>
F cbrt(const F& x) {
  using T = scalar_t<F>;
  using C = PowerConstants<T>;
  using Format = FloatFormat<T>;
  using I = int_t<F>;
  constexpr bool kSingle = sizeof(T) == 4;
  constexpr T kUp = kSingle ? T(0x1p24) : T(0x1p54);
  constexpr int kUpThird = kSingle ? 8 : 18;
  // The bias plus kToThree is 3 * kThird.
  constexpr int kToThree = kSingle ? 2 : 0;
  constexpr int kThird = (Format::kBias + kToThree) / 3;
  const F magnitude = abs(x);
  const mask_t<F> subnormal = magnitude < F(Format::kMinNormal);
  const I bits = to_bits(where(subnormal, magnitude * kUp, magnitude));
  const I exponent = (bits >> I(Format::kMantissaBits)) + I(kToThree);
  const I third = (exponent * I(21846)) >> I(16);
  const I remainder = exponent - third * I(3);
  const F m = from_bits((bits & I(Format::kMantissaMask)) | to_bits(F(1)));
  const mask_t<F> one = remainder == I(1);
  const mask_t<F> two = remainder == I(2);
  const F v = m * where(one, F(2), where(two, F(4), F(1)));
  const F y0 = polynomial(m, C::kInverseCbrt) * where(one, F(C::kInverseCbrt2), where(two, F(C::kInverseCbrt4), F(1)));
  // (1 - e)^(-1/3) = 1 + e/3 + 2/9 e^2 + 14/81 e^3 + ...
  const F e = fma(-(v * y0), y0 * y0, T(1));
  const F series = fma(fma(e, T(14.0 / 81), T(2.0 / 9)), e, T(1.0 / 3));
  const F y = fma(y0 * e, series, y0);
  const F t = v * (y * y);
  const Pair<F> square = two_product(t, t);
  const F rest = fma(-square.low, t, fma(-square.high, t, v));
  const F root = fma(rest * T(1.0 / 3), y * y, t);
  const I back = (third - I(kThird)) - where(subnormal, I(kUpThird), I(0));
  const F result = root * power_of_two<F>(back);
  return where((magnitude > F(0)) & (magnitude < F(kInfinity<T>)), flip_sign(result, x), x);
}

/// sqrt(x^2 + y^2) without intermediate overflow; infinite if either is infinite, even if the other is NaN.
template <FloatLane F>
F hypot(const F& x, const F& y) {
  using T = scalar_t<F>;
  using Format = FloatFormat<T>;
  using I = int_t<F>;
  const F ax = abs(x);
  const F ay = abs(y);
  const mask_t<F> swapped = ay > ax;
  const F large = where(swapped, ay, ax);
  const F small = where(swapped, ax, ay);
  // Both are divided by the power of two below the larger one, limited to normal numbers.
  const I field = to_bits(large) >> I(Format::kMantissaBits);
  const I exponent =
      where(field > I(2 * Format::kBias - 1), I(2 * Format::kBias - 1), where(field < I(1), I(1), field));
  const F down = from_bits((I(2 * Format::kBias) - exponent) << I(Format::kMantissaBits));
  const F up = from_bits(exponent << I(Format::kMantissaBits));
  const F a = large * down;
  const F b = small * down;
  const Pair<F> aa = two_product(a, a);
  const Pair<F> bb = two_product(b, b);
  const Pair<F> sum = quick_two_sum(aa.high, bb.high);
  const F root = sqrt(sum.high);
  const F rest = fma(-root, root, sum.high) + (sum.low + (aa.low + bb.low));
  const F result = (root + rest / where(root > F(0), root + root, F(1))) * up;
  return where((ax == F(kInfinity<T>)) | (ay == F(kInfinity<T>)), F(kInfinity<T>), result);
}

/// x^y, with C's special cases, from value * 2^exponent = |x|^y for finite nonzero x.
///
/// `finish` computes value * 2^exponent, including underflow and overflow.
template <FloatLane F, class Value, class Exponent, class Finish>
F pow_special(const F& x, const F& y, const Value& value, const Exponent& exponent, Finish finish) {
  using T = scalar_t<F>;
  const F ax = abs(x);
  const mask_t<F> integer = trunc(y) == y;
  const F half = y * T(0.5);
  // Large numbers and infinities count as even.
  const mask_t<F> odd = integer & (trunc(half) != half);
  const mask_t<F> negative = to_bits(x) < int_t<F>(0);
  const mask_t<F> zero = ax == F(0);
  const mask_t<F> infinite = ax == F(kInfinity<T>);
  // For x = 0, infinite x and infinite y, the result is 0, 1 or infinity.
  const mask_t<F> grows = (ax > F(1)) ^ (y < F(0));
  const F extreme = where(ax == F(1), F(1), where(grows, F(kInfinity<T>), F(0)));
  const F magnitude = where((zero | infinite) | (abs(y) == F(kInfinity<T>)), extreme, finish(value, exponent));
  const F with_sign = where(negative & odd, -magnitude, magnitude);
  const mask_t<F> undefined = ((x < F(0)) & !infinite & !integer) | is_nan(x) | is_nan(y);
  return where((y == F(0)) | (x == F(1)), F(1), where(undefined, F(kNaN<T>), with_sign));
}

/// log2 of a normal positive number to 2^-66 of it, as a pair.
///
/// log2 m = c s (1 + T), c = 2 / ln 2, s = (m - 1) / (m + 1), T = z / 3 + z^2 / 5 + ... with z = s^2 < 0.03: all but
/// T's last terms as pairs.
template <class B>
Pair<Lane<double, B>> log2_pair(const Lane<double, B>& x, const int_t<Lane<double, B>>& extra) {
  using F = Lane<double, B>;
  using C = PowerConstants<double>;
  const auto [m, exponent] = split_exponent(x, int_t<F>(0x3fe6a09e667f3bcd));
  const F k = small_integer<F>(exponent + extra);
  // 1 is a multiple of ulp(m).
  const Pair<F> s = divide(Pair<F>{m - 1.0, F(0)}, quick_two_sum(F(1), m));
  const F z = s.high * s.high;
  const F z_low = multiply_add(s.high + s.high, s.low, product_error(s.high, s.high, z));
  const F fifth = multiply_add(z, polynomial(z, C::kAtanhTail), C::kFifth_0);
  const F third = fma(z, fifth, C::kThird_0);
  const F third_low = fma(z, fifth, C::kThird_0 - third) + C::kThird_1;
  const F t = z * third;
  const F t_low = multiply_add(z_low, third, multiply_add(z, third_low, product_error(z, third, t)));
  const F u = s.high * (2 * C::kInvLn2_0);
  const F u_low = multiply_add(s.low, 2 * C::kInvLn2_0,
                               multiply_add(s.high, 2 * C::kInvLn2_1, product_error(s.high, F(2 * C::kInvLn2_0), u)));
  const F v = u * t;
  const F v_low = multiply_add(u_low, t, multiply_add(u, t_low, product_error(u, t, v)));
  const Pair<F> fraction = quick_two_sum(u, v);
  // k is 0 or a multiple of the fraction's ulp.
  const Pair<F> sum = quick_two_sum(k, fraction.high);
  return quick_two_sum(sum.high, sum.low + (fraction.low + (u_low + v_low)));
}

/// 2^exponent * value.
template <FloatLane F>
struct Scaled {
  int_t<F> exponent;
  F value;
};

/// 2^(high + low) for |high| < 2^20, as e^((high + low) ln 2).
template <FloatLane F>
Scaled<F> exp2_of_pair(const F& high, const F& low) {
  using E = ExpConstants<scalar_t<F>>;
  using Format = FloatFormat<scalar_t<F>>;
  const F shifted = high + Format::kRoundingShift;
  // The difference is a multiple of ulp(high), so low may exceed it.
  const Pair<F> r = quick_two_sum(high - (shifted - Format::kRoundingShift), low);
  const F t = r.high * E::kLn2_0;
  const F t_low =
      multiply_add(r.low, E::kLn2_0, multiply_add(r.high, E::kLn2_1, product_error(r.high, F(E::kLn2_0), t)));
  const F tail = multiply_add(t * t, polynomial(t, E::kExp), multiply_add(t_low, t, t_low));
  const Pair<F> sum = quick_two_sum(F(1), t);
  return {to_bits(shifted) - int_t<F>(Format::kRoundingShiftBits), sum.high + (sum.low + tail)};
}

/// x^y for all arguments.
template <class B>
Lane<double, B> pow_slowly(const Lane<double, B>& x, const Lane<double, B>& y) {
  using F = Lane<double, B>;
  using I = int_t<F>;
  const F ax = abs(x);
  const mask_t<F> subnormal = ax < F(FloatFormat<double>::kMinNormal);
  const Pair<F> l = log2_pair(where(subnormal, ax * 0x1p53, ax), where(subnormal, I(-53), I(0)));
  const F product = y * l.high;
  const F limited = where(product > F(1100), F(1100), where(product < F(-1100), F(-1100), product));
  const F product_low = where(abs(product) < F(1100), multiply_add(y, l.low, product_error(y, l.high, product)), F(0));
  const Scaled<F> p = exp2_of_pair(limited, product_low);
  return pow_special(x, y, p.value, p.exponent, [](const F& v, const I& e) { return scale(v, e); });
}

/// x^y: log2 |x| to 2^-66, times y, then the exponential of the pair.
template <class B>
Lane<double, B> pow(const Lane<double, B>& x, const Lane<double, B>& y) {
  using F = Lane<double, B>;
  using I = int_t<F>;
  const Pair<F> l = log2_pair(x, I(0));
  const F product = y * l.high;
  const Scaled<F> p = exp2_of_pair(product, multiply_add(y, l.low, product_error(y, l.high, product)));
  const F fast = from_bits(to_bits(p.value) + (p.exponent << I(52)));
  return with_cold_path(
      is_not_positive_normal(x) | !(abs(product) < F(1020)), fast,
      [](const F& a, const F& b) { return pow_slowly(a, b); }, x, y);
}

/// x^y, computed in f64.
template <class B>
Lane<float, B> pow(const Lane<float, B>& x, const Lane<float, B>& y) {
  using F = Lane<float, B>;
  using D = Lane<double, B>;
  using C = PowerConstants<double>;
  using Format = FloatFormat<double>;
  using I = int_t<D>;
  const auto [m, exponent] = split_exponent(convert<double>(abs(x)), I(0x3fe6a09e667f3bcd));
  const D s = (m - 1.0) / (m + 1.0);
  const D log2 = fma(s, polynomial(s * s, C::kLog2ForFloat), small_integer<D>(exponent));
  const D product = convert<double>(y) * log2;
  // Beyond these limits, f32 overflows or underflows to 0.
  const D limited = where(product > D(200), D(200), where(product < D(-200), D(-200), product));
  const D shifted = limited + Format::kRoundingShift;
  const D r = limited - (shifted - Format::kRoundingShift);
  const D value = from_bits(to_bits(polynomial(r, C::kExp2ForFloat)) + (to_bits(shifted) << I(52)));
  const F fast = convert<float>(value);
  return with_cold_path(
      !((x > F(0)) & (x < F(kInfinity<float>)) & (abs(y) < F(kInfinity<float>))), fast,
      [](const F& a, const F& b, const F& v) {
        return pow_special(a, b, v, v, [](const F& finite, const F&) { return finite; });
      },
      x, y, fast);
}

}  // namespace calque::math
