#pragma once

#include "math/lane.h"

namespace calque::math {

/// x to the power n for integers, wrapping; for a negative exponent 1/x truncated, all ones for x = 0.
template <class T, class B>
Lane<T, B> integer_power(const Lane<T, B>& x, const Lane<T, B>& n) {
  using I = Lane<T, B>;
  const I one(T(1)), zero(T(0));
  // Square and multiply, one bit of the exponent per iteration.
  const auto [rest, base, product] = while_lanes([](const I& k, const I&, const I&) { return k > I(T(0)); },
                                                 [](const I& k, const I& b, const I& p) {
                                                   const auto odd = (k & I(T(1))) != I(T(0));
                                                   return std::tuple{k >> I(T(1)), b * b, where(odd, p * b, p)};
                                                 },
                                                 n, x, one);
  if constexpr (std::is_unsigned_v<T>) return product;
  const I minus(static_cast<T>(-1));
  const I odd_sign = where((n & one) != zero, minus, one);
  const I inverse = where(x == one, one, where(x == minus, odd_sign, where(x == zero, minus, zero)));
  return where(n < zero, inverse, product);
}

}  // namespace calque::math
