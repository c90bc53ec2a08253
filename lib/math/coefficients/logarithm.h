// Printed by lib/math/coefficients/logarithm.py; do not edit.
#pragma once

#include <array>
#include <cstdint>

namespace calque::math {

template <class T>
struct LogConstants;

template <>
struct LogConstants<float> {
  // ln 2 in two parts; an integer of up to 9 (12) bits times the first is exact
  static constexpr float kLn2_0 = 0x1.62e4p-1f;
  static constexpr float kLn2_1 = 0x1.7f7d1cp-20f;
  // ln 2 in two full parts
  static constexpr float kFullLn2_0 = 0x1.62e43p-1f;
  static constexpr float kFullLn2_1 = -0x1.05c61p-29f;
  // 1 / ln 2
  static constexpr float kInvLn2_0 = 0x1.715476p0f;
  static constexpr float kInvLn2_1 = 0x1.4ae0cp-26f;
  // 1 / ln 10
  static constexpr float kInvLn10_0 = 0x1.bcb7b2p-2f;
  static constexpr float kInvLn10_1 = -0x1.5b235ep-27f;
  // log10 2, split as ln 2 is
  static constexpr float kLog10Of2_0 = 0x1.344p-2f;
  static constexpr float kLog10Of2_1 = 0x1.3509f8p-18f;
  // (log(1 + f) - f + f^2 / 2) / f^3 on |f| < 1/3, weighted so that log is relative; error 2^-27.6
  static constexpr std::array<float, 8> kLog1p = {
      0x1.555506p-2f, -0x1.fffefp-3f,  0x1.99d034p-3f, -0x1.559ddp-3f,
      0x1.1ed724p-3f, -0x1.f3111ep-4f, 0x1.1e66b4p-3f, -0x1.0805dp-3f,
  };
  // log10 2
  static constexpr float kLog10Of2 = 0x1.344136p-2f;
  // log(1 + f) / f on |f| < 1/3, relative, for 4 ulp; error 2^-25.0
  static constexpr std::array<float, 9> kLogFast = {
      0x1p0f,          -0x1.ffffd2p-2f, 0x1.5554eap-2f,  -0x1.001512p-2f, 0x1.99d844p-3f,
      -0x1.502268p-3f, 0x1.1e7738p-3f,  -0x1.3b74fep-3f, 0x1.1fdf96p-3f,
  };
  // log2(1 + f) / f on |f| < 1/3, relative, for 4 ulp; error 2^-24.6
  static constexpr std::array<float, 9> kLog2Fast = {
      0x1.715476p0f,   -0x1.71544ap-1f, 0x1.ec720ap-2f,  -0x1.7179fcp-2f, 0x1.274118p-2f,
      -0x1.e3db9ap-3f, 0x1.a8f8acp-3f,  -0x1.ccf0dap-3f, 0x1.68d472p-3f,
  };
  // log10(1 + f) / f on |f| < 1/3, relative, for 4 ulp; error 2^-24.5
  static constexpr std::array<float, 9> kLog10Fast = {
      0x1.bcb7b2p-2f,  -0x1.bcb78cp-3f, 0x1.287a08p-3f,  -0x1.bcdc38p-4f, 0x1.63fc94p-4f,
      -0x1.23f66ep-4f, 0x1.f1a452p-5f,  -0x1.1200a2p-4f, 0x1.f41658p-5f,
  };
};

template <>
struct LogConstants<double> {
  // ln 2 in two parts; an integer of up to 9 (12) bits times the first is exact
  static constexpr double kLn2_0 = 0x1.62e42fefa4p-1;
  static constexpr double kLn2_1 = -0x1.8432a1b0e2634p-43;
  // ln 2 in two full parts
  static constexpr double kFullLn2_0 = 0x1.62e42fefa39efp-1;
  static constexpr double kFullLn2_1 = 0x1.abc9e3b39803fp-56;
  // 1 / ln 2
  static constexpr double kInvLn2_0 = 0x1.71547652b82fep0;
  static constexpr double kInvLn2_1 = 0x1.777d0ffda0d24p-56;
  // 1 / ln 10
  static constexpr double kInvLn10_0 = 0x1.bcb7b1526e50ep-2;
  static constexpr double kInvLn10_1 = 0x1.95355baaafad3p-57;
  // log10 2, split as ln 2 is
  static constexpr double kLog10Of2_0 = 0x1.34413509f8p-2;
  static constexpr double kLog10Of2_1 = -0x1.80433b83b532ap-44;
  // log10 2
  static constexpr double kLog10Of2 = 0x1.34413509f79ffp-2;
  // (2 atanh(s) / s - 2) / z with z = s^2 on |s| < 0.1716; error 2^-59.0
  static constexpr std::array<double, 7> kLogAtanh = {
      0x1.5555555555592p-1, 0x1.999999997ff1bp-2, 0x1.24924941e58c8p-2, 0x1.c71c520c4edbbp-3,
      0x1.74663e69bae04p-3, 0x1.39a1e7f84dd82p-3, 0x1.2f013b1ad0d0bp-3,
  };
};

}  // namespace calque::math
