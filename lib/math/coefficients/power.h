// Printed by lib/math/coefficients/power.py; do not edit.
#pragma once

#include <array>
#include <cstdint>

namespace calque::math {

template <class T>
struct PowerConstants;

template <>
struct PowerConstants<float> {
  // x^(-1/3) on [1, 2], relative; error 2^-11.9
  static constexpr std::array<float, 4> kInverseCbrt = {
      0x1.8ab976p0f,
      -0x1.9eb4b4p-1f,
      0x1.45645ep-2f,
      -0x1.99194cp-5f,
  };
  // 2^(-1/3)
  static constexpr float kInverseCbrt2 = 0x1.965feap-1f;
  // 4^(-1/3)
  static constexpr float kInverseCbrt4 = 0x1.428a3p-1f;
  // 1 / ln 2
  static constexpr float kInvLn2_0 = 0x1.715476p0f;
  static constexpr float kInvLn2_1 = 0x1.4ae0cp-26f;
  // 1 / 3
  static constexpr float kThird_0 = 0x1.555556p-2f;
  static constexpr float kThird_1 = -0x1.555556p-27f;
  // 1 / 5
  static constexpr float kFifth_0 = 0x1.99999ap-3f;
  static constexpr float kFifth_1 = -0x1.99999ap-29f;
};

template <>
struct PowerConstants<double> {
  // x^(-1/3) on [1, 2], relative; error 2^-14.7
  static constexpr std::array<double, 5> kInverseCbrt = {
      0x1.ab858eddf76a6p0, -0x1.2c41ddc7dd278p0, 0x1.6416456ffe069p-1, -0x1.c518496c2e171p-3, 0x1.d46f57559555p-6,
  };
  // 2^(-1/3)
  static constexpr double kInverseCbrt2 = 0x1.965fea53d6e3dp-1;
  // 4^(-1/3)
  static constexpr double kInverseCbrt4 = 0x1.428a2f98d728bp-1;
  // 1 / ln 2
  static constexpr double kInvLn2_0 = 0x1.71547652b82fep0;
  static constexpr double kInvLn2_1 = 0x1.777d0ffda0d24p-56;
  // 1 / 3
  static constexpr double kThird_0 = 0x1.5555555555555p-2;
  static constexpr double kThird_1 = 0x1.5555555555555p-56;
  // 1 / 5
  static constexpr double kFifth_0 = 0x1.999999999999ap-3;
  static constexpr double kFifth_1 = -0x1.999999999999ap-57;
  // (atanh(s) / s - 1 - z / 3 - z^2 / 5) / z^3 with z = s^2 on |s| < 0.1716; error 2^-72.8
  static constexpr std::array<double, 7> kAtanhTail = {
      0x1.24924924927ccp-3, 0x1.c71c71c65a479p-4, 0x1.745d17d73e672p-4, 0x1.3b13783f6e0ap-4,
      0x1.111dcc8eb436fp-4, 0x1.de9ed594e21c7p-5, 0x1.e7dd11ca248b9p-5,
  };
  // log2((1 + s) / (1 - s)) / s in z = s^2 on |s| < 0.1716; error 2^-37.8
  static constexpr std::array<double, 5> kLog2ForFloat = {
      0x1.71547652bee65p1, 0x1.ec709d1252cccp-1, 0x1.2777803e33f02p-1, 0x1.a58d640dde769p-2, 0x1.5ceac043531d5p-2,
  };
  // 2^r on |r| <= 1/2, relative; error 2^-29.0
  static constexpr std::array<double, 7> kExp2ForFloat = {
      0x1.0000000261085p0,  0x1.62e430c7ebc47p-1,  0x1.ebfbdadca0961p-3,  0x1.c6aed4ba2ee3fp-5,
      0x1.3b2dbbbb47602p-7, 0x1.5f456a171c1c4p-10, 0x1.41d339e378d94p-13,
  };
};

}  // namespace calque::math
