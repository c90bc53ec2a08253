// Fused multiply-add for backends whose target has none; calling the C library for each number would be far slower. f32
// rounds the sum twice, which differs only for rare ties; f64 adds the product as a pair (Dekker).
#pragma once

#include "math/lane.h"

namespace calque::math {

/// The scale of products near the largest number, so that their parts do not overflow.
inline constexpr double kBelowOverflow = 0x1p-64;

/// Splitting a factor overflows from about 2^997 on.
inline constexpr double kLargeFactor = 0x1p990;

template <class B>
Lane<bool, B> has_large_factor(const Lane<double, B>& a, const Lane<double, B>& b) {
  using F = Lane<double, B>;
  return (abs(a) > F(kLargeFactor)) | (abs(b) > F(kLargeFactor));
}

/// The factors of a product. Where the mask is set, the larger one is scaled down; it is far above the subnormals
/// there.
template <class B>
std::pair<Lane<double, B>, Lane<double, B>> scaled_factors(const Lane<bool, B>& large, const Lane<double, B>& a,
                                                           const Lane<double, B>& b) {
  using F = Lane<double, B>;
  const Lane<bool, B> first = abs(a) > abs(b);
  return {where(large & first, a * F(kBelowOverflow), a), where(large & !first, b * F(kBelowOverflow), b)};
}

/// a * b - p exactly for p = a * b whose parts do not overflow; 0 where it is infinite.
template <class B>
Lane<double, B> error_of_product(const Lane<double, B>& a, const Lane<double, B>& b, const Lane<double, B>& p) {
  using F = Lane<double, B>;
  const auto split = [](const F& x) {
    const F scaled = x * F(0x1p27 + 1);
    const F high = scaled - (scaled - x);
    return std::pair(high, x - high);
  };
  const auto [a1, a2] = split(a);
  const auto [b1, b2] = split(b);
  const F e = (((a1 * b1 - p) + a1 * b2) + a2 * b1) + a2 * b2;
  return where(e == e, e, F(0));
}

/// a * b - p exactly for p = a * b; 0 where it is infinite.
template <class B>
Lane<double, B> emulated_product_error(const Lane<double, B>& a, const Lane<double, B>& b, const Lane<double, B>& p) {
  using F = Lane<double, B>;
  const mask_t<F> large = (abs(p) > F(0x1p1000)) | has_large_factor(a, b);
  const auto [x, y] = scaled_factors(large, a, b);
  const F e = error_of_product(x, y, where(large, p * F(kBelowOverflow), p));
  return where(large, e * F(1 / kBelowOverflow), e);
}

template <class B>
Lane<float, B> emulated_product_error(const Lane<float, B>& a, const Lane<float, B>& b, const Lane<float, B>& p) {
  return convert<float>(convert<double>(a) * convert<double>(b) - convert<double>(p));
}

template <class B>
Lane<double, B> emulated_fma(const Lane<double, B>& a, const Lane<double, B>& b, const Lane<double, B>& c) {
  using F = Lane<double, B>;
  const mask_t<F> large = (abs(a * b) > F(0x1p1000)) | (abs(c) > F(0x1p1000)) | has_large_factor(a, b);
  const auto [x, y] = scaled_factors(large, a, b);
  const F z = where(large, c * F(kBelowOverflow), c);
  const F p = x * y;
  const F s = p + z;
  const F t = s - p;
  const F rest = ((p - (s - t)) + (z - t)) + error_of_product(x, y, p);
  const F sum = s + where(rest == rest, rest, F(0));
  return where(large, sum * F(1 / kBelowOverflow), sum);
}

template <class B>
Lane<float, B> emulated_fma(const Lane<float, B>& a, const Lane<float, B>& b, const Lane<float, B>& c) {
  return convert<float>(convert<double>(a) * convert<double>(b) + convert<double>(c));
}

}  // namespace calque::math
