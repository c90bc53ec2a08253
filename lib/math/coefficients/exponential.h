// Printed by lib/math/coefficients/exponential.py; do not edit.
#pragma once

#include <array>
#include <cstdint>

namespace calque::math {

template <class T>
struct ExpConstants;

template <>
struct ExpConstants<float> {
  static constexpr float kLog2E = 0x1.715476p0f;
  // ln 2 in two parts
  static constexpr float kLn2_0 = 0x1.62e43p-1f;
  static constexpr float kLn2_1 = -0x1.05c61p-29f;
  // (e^t - 1 - t) / t^2 on |t| < 0.347, weighted so that e^t - 1 is relative; error 2^-31.0
  static constexpr std::array<float, 6> kExp = {
      0x1p-1f, 0x1.555554p-3f, 0x1.5554eap-5f, 0x1.1113aap-7f, 0x1.6d4c84p-10f, 0x1.9c622cp-13f,
  };
  // the same, e^t relative; error 2^-28.2
  static constexpr std::array<float, 5> kExpAlone = {
      0x1.fffffcp-2f, 0x1.55548cp-3f, 0x1.55585ap-5f, 0x1.123d72p-7f, 0x1.6ab8bap-10f,
  };
  // the same, for 4 ulp; error 2^-23.2
  static constexpr std::array<float, 4> kExpFast = {
      0x1.fffdfap-2f,
      0x1.5557bp-3f,
      0x1.572adep-5f,
      0x1.1061c4p-7f,
  };
  // (2^r - 1) / r on |r| <= 1/2, weighted so that 2^r is relative; error 2^-27.5
  static constexpr std::array<float, 6> kExp2 = {
      0x1.62e432p-1f, 0x1.ebfbe6p-3f, 0x1.c6ada8p-5f, 0x1.3b21cap-7f, 0x1.5fbcfap-10f, 0x1.4be50cp-13f,
  };
};

template <>
struct ExpConstants<double> {
  static constexpr double kLog2E = 0x1.71547652b82fep0;
  // ln 2 in two parts
  static constexpr double kLn2_0 = 0x1.62e42fefa39efp-1;
  static constexpr double kLn2_1 = 0x1.abc9e3b39803fp-56;
  // (e^t - 1 - t) / t^2 on |t| < 0.347, weighted so that e^t - 1 is relative; error 2^-57.9
  static constexpr std::array<double, 11> kExp = {
      0x1.0000000000001p-1,  0x1.5555555555557p-3,  0x1.5555555554affp-5,  0x1.111111110fda3p-7,
      0x1.6c16c16fd2e8p-10,  0x1.a01a01adbddc9p-13, 0x1.a019f00288522p-16, 0x1.71ddfc6841cd6p-19,
      0x1.280948706c5bbp-22, 0x1.af59e15aa8b99p-26, 0x1.d184de4b196cbp-30,
  };
  // the same, e^t relative; error 2^-57.7
  static constexpr std::array<double, 10> kExpAlone = {
      0x1.000000000000ap-1,  0x1.5555555555501p-3,  0x1.55555555505f1p-5,  0x1.1111111125aaap-7,  0x1.6c16c184bbd42p-10,
      0x1.a01a01385b347p-13, 0x1.a019987634decp-16, 0x1.71defff4def51p-19, 0x1.28aef3db62a48p-22, 0x1.adc2c3a5793b9p-26,
  };
  // the same, for 4 ulp; error 2^-51.6
  static constexpr std::array<double, 9> kExpFast = {
      0x1.ffffffffffecfp-2,  0x1.5555555550727p-3, 0x1.55555555897dp-5,   0x1.11111125d3bap-7,  0x1.6c16c0c71b1bap-10,
      0x1.a0198ce0ab0a9p-13, 0x1.a01b7e1eb31bp-16, 0x1.72e9a4476564cp-19, 0x1.2706ec96ceaap-22,
  };
  // (2^r - 1) / r on |r| <= 1/2, weighted so that 2^r is relative; error 2^-59.6
  static constexpr std::array<double, 12> kExp2 = {
      0x1.62e42fefa39efp-1,  0x1.ebfbdff82c58ep-3,  0x1.c6b08d704a1c3p-5,  0x1.3b2ab6fba526cp-7,
      0x1.5d87fe7879e97p-10, 0x1.430912f6d7e39p-13, 0x1.ffcbfd257e736p-17, 0x1.62c02a2d8f982p-20,
      0x1.b52389eb28b31p-24, 0x1.e4ad33ae3cb9cp-28, 0x1.ebded30e8979ep-32, 0x1.f8556f7a4b2d6p-36,
  };
};

}  // namespace calque::math
