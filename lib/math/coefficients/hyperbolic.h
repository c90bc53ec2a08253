// Printed by lib/math/coefficients/hyperbolic.py; do not edit.
#pragma once

#include <array>
#include <cstdint>

namespace calque::math {

template <class T>
struct HyperbolicConstants;

template <>
struct HyperbolicConstants<float> {
  // (sinh x - x) / x^3 in x^2, |x| <= 1, sinh relative; error 2^-31.6
  static constexpr std::array<float, 4> kSinh = {
      0x1.555556p-3f,
      0x1.1110ep-7f,
      0x1.a022bcp-13f,
      0x1.756c1ep-19f,
  };
};

template <>
struct HyperbolicConstants<double> {
  // (sinh x - x) / x^3 in x^2, |x| <= 1, sinh relative; error 2^-61.8
  static constexpr std::array<double, 7> kSinh = {
      0x1.5555555555556p-3,  0x1.111111111101ep-7,  0x1.a01a01a03726ap-13, 0x1.71de3a3b01ca8p-19,
      0x1.ae646fff7bc69p-26, 0x1.6116ed77c95acp-33, 0x1.b5cbc8ced7e66p-41,
  };
};

}  // namespace calque::math
