// Printed by lib/math/coefficients/polygamma.py; do not edit.
#pragma once

#include <array>
#include <cstdint>

namespace calque::math {

template <class T>
struct PolygammaConstants;

template <>
struct PolygammaConstants<float> {
  // trigamma(5/2 + v) on |v| <= 1/2, relative; error 2^-30.2
  static constexpr std::array<double, 10> kTrigamma = {
      0x1.f62057fe117b1p-2,  -0x1.e3bef327d07dep-3, 0x1.ca8f10bb67c26p-4, -0x1.ac619dff74d18p-5, 0x1.8b030b88a8b3ap-6,
      -0x1.67ef796fc4798p-7, 0x1.42a70e332fabdp-8,  -0x1.2059258479b1p-9, 0x1.22073b757be5fp-10, -0x1.fbcacac6f1c37p-12,
  };
  // z^3 (trigamma(z) - 1 / z - 1 / (2 z^2)) in 1 / z^2, z >= 3, trigamma relative; error 2^-37.5
  static constexpr std::array<double, 6> kTrigammaLarge = {
      0x1.555554ea080d7p-3,  -0x1.110fd317fc46ep-5, 0x1.8579fc8239548p-6,
      -0x1.07b9631a60863p-5, 0x1.d393dc7494e65p-5,  -0x1.2b89e94e3f90cp-4,
  };
};

template <>
struct PolygammaConstants<double> {
  // trigamma(5/2 + v) on |v| <= 1/2, relative; error 2^-55.2
  static constexpr std::array<double, 19> kTrigamma = {
      0x1.f62057f7296c9p-2,  -0x1.e3bef327df0e8p-3,  0x1.ca8f26506cfddp-4,  -0x1.ac61ab99a0748p-5,
      0x1.8af84ae11e60ep-6,  -0x1.67e74e08a8307p-7,  0x1.4484073ef265ep-8,  -0x1.21de18c381dp-9,
      0x1.00c09b7bca705p-10, -0x1.c370c17fc1218p-12, 0x1.8a397f969d874p-13, -0x1.563082f0f2162p-14,
      0x1.2771571c7bc01p-15, -0x1.fc4cbe7c0fa7dp-17, 0x1.b2d21e1f6caf8p-18, -0x1.69e68a303b985p-19,
      0x1.33a904bcd013dp-20, -0x1.49a2feacc918p-21,  0x1.1503e8fef2d2dp-22,
  };
  // z^3 (trigamma(z) - 1 / z - 1 / (2 z^2)) in 1 / z^2, z >= 3, trigamma relative; error 2^-60.5
  static constexpr std::array<double, 14> kTrigammaLarge = {
      0x1.555555555551ap-3,  -0x1.11111110ddc62p-5, 0x1.86186109a3935p-6, -0x1.1110eaaed8b33p-5, 0x1.36467aee1d8bcp-4,
      -0x1.02c19b1a7908ap-2, 0x1.25f2024a4f253p0,   -0x1.9ff56556737f6p2, 0x1.42b40d1242e09p5,   -0x1.dad81f92eb5c6p7,
      0x1.226549f68d55fp10,  -0x1.05be5e12dd9d8p12, 0x1.2bf053ebf9e63p13, -0x1.42f4913a43449p13,
  };
};

}  // namespace calque::math
