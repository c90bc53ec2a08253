// The significant bits of 2/pi for arguments of a given exponent: 2^k 2/pi modulo 4, in a few parts of fixed weight.
#pragma once

#include <algorithm>
#include <bit>

#include "math/coefficients/trigonometric.h"

namespace calque::math {

/// The `count` (up to 53) bits of 2/pi from weight 2^-position on, as an integer.
constexpr std::uint64_t bits_of_two_over_pi(int position, int count) {
  constexpr int kDigit = 28;
  // The digits start with two zeros and the digit of weight 1.
  int offset = position + 3 * kDigit - 1;
  std::uint64_t bits = 0;
  for (int left = count; left > 0;) {
    const int remaining = kDigit - offset % kDigit;
    const int take = std::min(remaining, left);
    const std::uint64_t digit = TrigConstants<double>::kTwoOverPiDigits[static_cast<std::size_t>(offset / kDigit)];
    bits = (bits << take) | ((digit >> (remaining - take)) & ((std::uint64_t{1} << take) - 1));
    offset += take;
    left -= take;
  }
  return bits;
}

/// For exponents first, first + 1, ...: the bits of 2^exponent 2/pi from weight 2^-from (at most 2^1, since multiples
/// of 4 are dropped) to 2^-(from + count - 1), as a double.
template <std::size_t N>
constexpr std::array<double, N> part_of_two_over_pi(int first, int from, int count) {
  std::array<double, N> part{};
  const double unit = std::bit_cast<double>(static_cast<std::uint64_t>(1023 - from - count + 1) << 52);
  for (std::size_t i = 0; i < N; ++i)
    part[i] = static_cast<double>(bits_of_two_over_pi(first + static_cast<int>(i) + from, count)) * unit;
  return part;
}

/// x = m 2^k with an integer m of 24 bits for f32 (53 for f64), and the parts of 2^k 2/pi modulo 4 from the least k on.
template <class T>
struct TwoOverPi;

/// Two parts: m times the first is exact in f64, and the rest is below 2^-80.
template <>
struct TwoOverPi<float> {
  static constexpr int kLeast = -7;
  static constexpr std::size_t kCount = 113;
  static constexpr std::array<double, kCount> kPart0 = part_of_two_over_pi<kCount>(kLeast, -1, 29);
  static constexpr std::array<double, kCount> kPart1 = part_of_two_over_pi<kCount>(kLeast, 28, 53);
};

/// Four parts: m times the first modulo 4 is exact, and the rest is below 2^-207.
template <>
struct TwoOverPi<double> {
  static constexpr int kLeast = -22;
  static constexpr std::size_t kCount = 995;
  static constexpr std::array<double, kCount> kPart0 = part_of_two_over_pi<kCount>(kLeast, -1, 50);
  static constexpr std::array<double, kCount> kPart1 = part_of_two_over_pi<kCount>(kLeast, 49, 53);
  static constexpr std::array<double, kCount> kPart2 = part_of_two_over_pi<kCount>(kLeast, 102, 53);
  static constexpr std::array<double, kCount> kPart3 = part_of_two_over_pi<kCount>(kLeast, 155, 53);
};

}  // namespace calque::math
