// Printed by lib/math/coefficients/trigonometric.py; do not edit.
#pragma once

#include <array>
#include <cstdint>

namespace calque::math {

template <class T>
struct TrigConstants;

template <>
struct TrigConstants<float> {
  static constexpr float kTwoOverPi = 0x1.45f306p-1f;
  // pi / 2 in three parts
  static constexpr float kPiOver2_0 = 0x1.921fb6p0f;
  static constexpr float kPiOver2_1 = -0x1.777a5cp-25f;
  static constexpr float kPiOver2_2 = -0x1.ee59dap-50f;
  // pi in two parts
  static constexpr float kPi_0 = 0x1.921fb6p1f;
  static constexpr float kPi_1 = -0x1.777a5cp-24f;
  // pi / 4 in two parts
  static constexpr float kPiOver4_0 = 0x1.921fb6p-1f;
  static constexpr float kPiOver4_1 = -0x1.777a5cp-26f;
  // 3 pi / 4 in two parts
  static constexpr float k3PiOver4_0 = 0x1.2d97c8p1f;
  static constexpr float k3PiOver4_1 = -0x1.99bc5cp-28f;
  // (sin r - r) / r^3 in r^2, |r| <= pi/4, sin relative; error 2^-27.8
  static constexpr std::array<float, 3> kSin = {
      -0x1.555544p-3f,
      0x1.1106cap-7f,
      -0x1.991f7ap-13f,
  };
  // the same for |r| <= pi/2, for 4 ulp; error 2^-27.2
  static constexpr std::array<float, 4> kSinFast = {
      -0x1.55554cp-3f,
      0x1.110ed8p-7f,
      -0x1.9f7054p-13f,
      0x1.5dbddp-19f,
  };
  // (cos r - 1 + r^2 / 2) / r^4 in r^2, |r| <= pi/4, cos relative; error 2^-32.9
  static constexpr std::array<float, 3> kCos = {
      0x1.55554ap-5f,
      -0x1.6c0c22p-10f,
      0x1.99e524p-16f,
  };
  // (asin x - x) / x^3 in x^2, |x| <= 1/2, asin relative; error 2^-27.6
  static constexpr std::array<float, 5> kAsin = {
      0x1.5555c8p-3f, 0x1.330204p-4f, 0x1.747bbap-5f, 0x1.8c3e28p-6f, 0x1.595c9p-5f,
  };
  // (atan x - x) / x^3 in x^2, |x| <= 1, atan relative; error 2^-28.4
  static constexpr std::array<float, 9> kAtan = {
      -0x1.55553ep-2f, 0x1.9991e4p-3f,  -0x1.24208cp-3f, 0x1.c08cbap-4f,   -0x1.580a98p-4f,
      0x1.da2fccp-5f,  -0x1.fd8bc4p-6f, 0x1.6437b8p-7f,  -0x1.d38714p-10f,
  };
};

template <>
struct TrigConstants<double> {
  static constexpr double kTwoOverPi = 0x1.45f306dc9c883p-1;
  // pi / 2 in three parts
  static constexpr double kPiOver2_0 = 0x1.921fb54442d18p0;
  static constexpr double kPiOver2_1 = 0x1.1a62633145c07p-54;
  static constexpr double kPiOver2_2 = -0x1.f1976b7ed8fbcp-110;
  // pi in two parts
  static constexpr double kPi_0 = 0x1.921fb54442d18p1;
  static constexpr double kPi_1 = 0x1.1a62633145c07p-53;
  // pi / 4 in two parts
  static constexpr double kPiOver4_0 = 0x1.921fb54442d18p-1;
  static constexpr double kPiOver4_1 = 0x1.1a62633145c07p-55;
  // 3 pi / 4 in two parts
  static constexpr double k3PiOver4_0 = 0x1.2d97c7f3321d2p1;
  static constexpr double k3PiOver4_1 = 0x1.a79394c9e8a0ap-54;
  // (sin r - r) / r^3 in r^2, |r| <= pi/4, sin relative; error 2^-57.8
  static constexpr std::array<double, 6> kSin = {
      -0x1.5555555555548p-3, 0x1.111111110f70fp-7,   -0x1.a01a019be2a17p-13,
      0x1.71de354e2548ep-19, -0x1.ae5e453682276p-26, 0x1.5d8952ffb3f4cp-33,
  };
  // the same for |r| <= pi/2, for 4 ulp; error 2^-52.5
  static constexpr std::array<double, 7> kSinFast = {
      -0x1.55555555554a3p-3, 0x1.111111110a2a6p-7,  -0x1.a01a019a46392p-13, 0x1.71de37fc9fb71p-19,
      -0x1.ae63526cc555p-26, 0x1.60e63bb8784a1p-33, -0x1.9f04ed99ad5a7p-41,
  };
  // (cos r - 1 + r^2 / 2) / r^4 in r^2, |r| <= pi/4, cos relative; error 2^-63.7
  static constexpr std::array<double, 6> kCos = {
      0x1.555555555554ap-5,   -0x1.6c16c16c14ep-10,  0x1.a01a019c5ceacp-16,
      -0x1.27e4f7ce8cfc4p-22, 0x1.1ee9c4cea89f1p-29, -0x1.8f9af9876423cp-37,
  };
  // (asin x - x) / x^3 in x^2, |x| <= 1/2, asin relative; error 2^-55.6
  static constexpr std::array<double, 12> kAsin = {
      0x1.555555555539p-3,  0x1.333333336e83p-4,  0x1.6db6db427889fp-5,  0x1.f1c72c3998191p-6,
      0x1.6e89f4303af23p-6, 0x1.1c6be2b7f42d2p-6, 0x1.c6fda8c141a9cp-7,  0x1.8ec3be688d1b4p-7,
      0x1.abc7bebf2b415p-8, 0x1.3ffa8ad089546p-6, -0x1.09dd2e0c7e624p-6, 0x1.0571008b55006p-5,
  };
  // (atan x - x) / x^3 in x^2, |x| <= 1, atan relative; error 2^-57.6
  static constexpr std::array<double, 20> kAtan = {
      -0x1.5555555555526p-2, 0x1.99999999955bp-3,   -0x1.249249237f46p-3,   0x1.c71c717fcb45dp-4,
      -0x1.745d11ae2caffp-4, 0x1.3b13669706423p-4,  -0x1.110e510ea387p-4,   0x1.e1bba5596bbe8p-5,
      -0x1.ae5e6e38310ddp-5, 0x1.82dac8f8a88b9p-5,  -0x1.59a3da90a9dafp-5,  0x1.2c2e158050727p-5,
      -0x1.e9f934c39ed73p-6, 0x1.683bc9230862ep-6,  -0x1.c78dfb3373a75p-7,  0x1.d7b6a8b9779d7p-8,
      -0x1.7a371c09edfa6p-9, 0x1.b3f75d118cd3ep-11, -0x1.3f3365c74bbecp-13, 0x1.bbe910c09d253p-17,
  };
  // 0, 0, then 2 / pi in digits of 28 bits, the first of weight 1
  static constexpr std::array<std::uint64_t, 46> kTwoOverPiDigits = {
      0x0000000u, 0x0000000u, 0x0000000u, 0xa2f9836u, 0xe4e4415u, 0x29fc275u, 0x7d1f534u, 0xddc0db6u,
      0x295993cu, 0x439041fu, 0xe5163abu, 0xdebbc56u, 0x1b7246eu, 0x3a424ddu, 0x2e00649u, 0x2eea09du,
      0x1921cfeu, 0x1deb1cbu, 0x129a73eu, 0xe88235fu, 0x52ebb44u, 0x84e99c7u, 0x026b45fu, 0x7e41399u,
      0x1d63983u, 0x5339f49u, 0xc845f8bu, 0xbdf9283u, 0xb1ff897u, 0xffde059u, 0x80fef2fu, 0x118b5a0u,
      0xa6d1f6du, 0x367ecf2u, 0x7cb09b7u, 0x4f463f6u, 0x69e5feau, 0x2d7527bu, 0xac7ebe5u, 0xf17b3d0u,
      0x739f78au, 0x5292ea6u, 0xbfb5fb1u, 0x1f8d5d0u, 0x8560330u, 0x46fc7b6u,
  };
};

}  // namespace calque::math
