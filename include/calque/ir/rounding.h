#pragma once
// Conversion of numbers to element types with a single rounding. The constructors of Eigen's 16-bit floats convert
// through f32, so that wider numbers would be rounded twice.
#include <algorithm>
#include <bit>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <type_traits>

#include "calque/ir/dtype.h"

namespace calque {

/// x rounded to f32 by rounding to odd: x if it is an f32, else the neighbor whose last bit is set. A later rounding to
/// at least two bits fewer then yields the single rounding of x. Source: S. Boldo and G. Melquiond, "Emulation of a FMA
/// and correctly rounded sums: proved algorithms using rounding to odd" (IEEE Transactions on Computers, 2008).
template <std::floating_point W>
float round_to_odd(W x) {
  auto f = static_cast<float>(x);
  if (std::isnan(f) || static_cast<W>(f) == x) return f;
  if (std::fabs(static_cast<W>(f)) > std::fabs(x)) f = std::nextafter(f, 0.0F);
  return std::bit_cast<float>(std::bit_cast<uint32_t>(f) | 1U);
}

/// As above for integers: a magnitude of more than 24 bits drops its low bits, and the last bit kept becomes sticky.
template <std::integral I>
float round_to_odd(I x) {
  if constexpr (sizeof(I) <= 2) {
    return static_cast<float>(x);
  } else {
    const bool negative = x < I{0};
    auto magnitude = static_cast<uint64_t>(x);
    if (negative) magnitude = 0 - magnitude;
    const int dropped = std::max(0, static_cast<int>(std::bit_width(magnitude)) - 24);
    const uint64_t kept = magnitude >> dropped;
    const uint64_t sticky = (kept << dropped) != magnitude ? 1 : 0;
    const float f = std::ldexp(static_cast<float>(kept | sticky), dropped);
    return negative ? -f : f;
  }
}

/// x converted to a 16-bit float type, f32 or f64: rounded once, to nearest even.
template <class To, class From>
  requires(std::is_arithmetic_v<From>)
To round_once(From x) {
  if constexpr (std::is_floating_point_v<To> || std::is_same_v<From, float>) {
    return static_cast<To>(x);
  } else {
    return To(round_to_odd(x));
  }
}

}  // namespace calque
