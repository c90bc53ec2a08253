#pragma once
// Numbers at which conversions to 16-bit floats are error-prone: ties of f16 and bf16 and their neighbours, which an
// intermediate rounding to f32 would turn into ties; with the correct results of the conversion.
#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>
#include <vector>

#include "calque/ir/dtype.h"

#include "support/random/random.h"

namespace calque::test {

/// x rounded to nearest even in the format of H, as a double. Exact for 64-bit integers: long double has a significand
/// of at least 64 bits.
template <class H>
double round_exactly(long double x) {
  constexpr bool kIsF16 = std::is_same_v<H, float16>;
  if (x == 0 || !std::isfinite(x)) return static_cast<double>(x);
  constexpr int kDigits = kIsF16 ? 11 : 8, kLeast = kIsF16 ? -14 : -126;
  const int exponent = std::max(std::ilogb(x), kLeast) - (kDigits - 1);
  const auto rounded = static_cast<double>(std::ldexp(std::nearbyint(std::ldexp(x, -exponent)), exponent));
  const double largest = kIsF16 ? 65504.0 : std::ldexp(255.0, 120);
  return std::fabs(rounded) > largest ? std::copysign(std::numeric_limits<double>::infinity(), rounded) : rounded;
}

/// Integers of T next to ties of significands of 8 and 11 bits, of every magnitude.
template <class T>
std::vector<T> integers_near_ties(Rng& rng) {
  std::vector<T> out;
  for (const int digits : {8, 11}) {
    for (int width = digits + 1; width <= std::numeric_limits<T>::digits; ++width) {
      const int dropped = width - digits;
      for (int repeat = 0; repeat < 4; ++repeat) {
        const uint64_t significand = (uint64_t{1} << (digits - 1)) + rng.below(uint64_t{1} << (digits - 1));
        const uint64_t tie = (2 * significand + 1) << (dropped - 1);
        const uint64_t beside = tie + (uint64_t{1} << rng.below(static_cast<uint64_t>(dropped)));
        for (const uint64_t v : {tie, tie - 1, tie + 1, beside}) {
          out.push_back(static_cast<T>(v));
          if (std::is_signed_v<T>) out.push_back(static_cast<T>(0 - v));
        }
      }
    }
  }
  for (int repeat = 0; repeat < 64; ++repeat) out.push_back(static_cast<T>(rng.next() >> rng.below(64)));
  return out;
}

/// Floats of T next to ties of both formats: with normal and subnormal results, at the largest value and beyond.
template <class T>
std::vector<T> floats_near_ties(Rng& rng) {
  std::vector<T> out;
  const auto add = [&](T tie) {
    const T inf = std::numeric_limits<T>::infinity();
    const T nudge = tie * (1 + static_cast<T>(std::ldexp(1.0, -static_cast<int>(13 + rng.below(38)))));
    for (const T v : {tie, std::nextafter(tie, T(0)), std::nextafter(tie, inf), nudge}) {
      out.push_back(v);
      out.push_back(-v);
    }
  };
  for (int exponent = -26; exponent <= 16; ++exponent) {
    add(static_cast<T>(std::ldexp(1 + static_cast<double>(2 * rng.below(1024) + 1) * 0x1p-11, exponent)));
  }
  for (int exponent = -136; exponent <= 127; exponent += 3) {
    add(static_cast<T>(std::ldexp(1 + static_cast<double>(2 * rng.below(128) + 1) * 0x1p-8, exponent)));
  }
  for (const double odd : {1.0, 3.0, 5.0, 1021.0}) {
    add(static_cast<T>(std::ldexp(odd, -25)));   // half ulps of f16's subnormals
    add(static_cast<T>(std::ldexp(odd, -134)));  // and of those of bf16
  }
  for (const double x : {65504.0, 65520.0, 65536.0}) add(static_cast<T>(x));
  add(static_cast<T>(std::ldexp(511.0, 119)));  // the tie above the largest bf16
  return out;
}

/// The integers or floats above, or nothing if conversions are exact.
template <class T>
std::vector<T> near_ties(Rng& rng) {
  if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>) {
    return floats_near_ties<T>(rng);
  } else if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
    return integers_near_ties<T>(rng);
  } else {
    return {};
  }
}

}  // namespace calque::test
