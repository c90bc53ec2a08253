// fmod, remainder (both exact), nextafter, ldexp.
#pragma once

#include "math/support.h"

namespace calque::math {

/// a mod b for finite a >= 0 and b > 0 (which may be infinite), exactly.
///
/// Each iteration subtracts a multiple of b 2^k with an exact fma: the quotient has fewer bits than the precision, so
/// that a - q b 2^k is a multiple of ulp(b) and less than 2 b 2^k. A quotient that was rounded up is corrected
/// by adding b 2^k once.
template <FloatLane F>
F mod_positive(const F& a, const F& b) {
  using T = scalar_t<F>;
  using Format = FloatFormat<T>;
  using I = int_t<F>;
  constexpr T kUp = sizeof(T) == 4 ? T(0x1p24) : T(0x1p53);
  const mask_t<F> subnormal = b < F(Format::kMinNormal);
  const I field = to_bits(where(subnormal, b * kUp, b)) >> I(Format::kMantissaBits);
  const I exponent = field - where(subnormal, I(Format::kMantissaBits + 1), I(0));
  const auto result = while_lanes([](const F& r, const F& y, const I&) { return r >= y; },
                                  [](const F& r, const F& y, const I& y_exponent) {
                                    const I distance = ((to_bits(r) >> I(Format::kMantissaBits)) - y_exponent) -
                                                       I(Format::kMantissaBits - 1);
                                    const I k = where((distance < I(0)) | (r < F(Format::kMinNormal)), I(0), distance);
                                    const F step = scale(y, k);
                                    const F q = trunc(r / step);
                                    const F rest = fma(-q, step, r);
                                    return std::tuple<F, F, I>(where(rest < F(0), rest + step, rest), y, y_exponent);
                                  },
                                  a, b, exponent);
  return std::get<0>(result);
}

/// C's fmod: x - trunc(x / y) y exactly, with the sign of x; NaN for y = 0 or infinite x.
template <FloatLane F>
F fmod(const F& x, const F& y) {
  using T = scalar_t<F>;
  const mask_t<F> valid = (abs(x) < F(kInfinity<T>)) & (abs(y) > F(0));
  const F r = mod_positive(where(valid, abs(x), F(0)), where(valid, abs(y), F(1)));
  return where(valid, copysign(r, x), F(kNaN<T>));
}

/// IEEE 754's remainder: x - n y exactly, n the integer nearest to x / y, even on ties.
template <FloatLane F>
F remainder(const F& x, const F& y) {
  using T = scalar_t<F>;
  const mask_t<F> valid = (abs(x) < F(kInfinity<T>)) & (abs(y) > F(0));
  const F b = where(valid, abs(y), F(1));
  // b + b may overflow to infinity, which compares like the true value.
  const F r = mod_positive(where(valid, abs(x), F(0)), b + b);
  const mask_t<F> once = r + r > b;
  const F r1 = where(once, r - b, r);
  const F r2 = where(once & (r1 + r1 >= b), r1 - b, r1);
  // With infinite b, 2 r > b never holds.
  return where(valid, flip_sign(r2, x), F(kNaN<T>));
}

/// The next number after x toward y; y when they are equal.
template <FloatLane F>
F nextafter(const F& x, const F& y) {
  using T = scalar_t<F>;
  using I = int_t<F>;
  const I bits = to_bits(x);
  const mask_t<F> away = (x < y) ^ (bits < I(0));
  const F moved = from_bits(where(away, bits + I(1), bits - I(1)));
  const F least = copysign(F(std::numeric_limits<T>::denorm_min()), y);
  const F result = where(x == y, y, where(x == F(0), least, moved));
  return where(is_nan(x) | is_nan(y), F(kNaN<T>), result);
}

/// The bits of the NaN that `nextafter_of_half` returns.
constexpr std::int16_t quiet_nan_of_half(bool bfloat) { return bfloat ? 0x7fc0 : 0x7e00; }

/// nextafter for 16-bit floats, given their values (as f32) and their bits.
template <class B>
Lane<std::int16_t, B> nextafter_of_half(const Lane<float, B>& x, const Lane<float, B>& y,
                                        const Lane<std::int16_t, B>& x_bits, const Lane<std::int16_t, B>& y_bits,
                                        bool bfloat) {
  using F = Lane<float, B>;
  using I = Lane<std::int16_t, B>;
  // Sign-magnitude bits are ordered like the numbers.
  const mask_t<F> away = (x < y) == (x > F(0));
  const I moved = where(away, x_bits + I(1), x_bits - I(1));
  const I from_zero = where(y > F(0), I(1), I(-0x7fff));
  const I next = where(x == y, y_bits, where(x == F(0), from_zero, moved));
  return where(is_nan(x) | is_nan(y), I(quiet_nan_of_half(bfloat)), next);
}

/// x * 2^n, rounded once.
template <FloatLane F>
F ldexp(const F& x, const int_t<F>& n) {
  return scale_exactly(x, n);
}

}  // namespace calque::math
