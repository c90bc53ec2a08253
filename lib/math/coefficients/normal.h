// Printed by lib/math/coefficients/normal.py; do not edit.
#pragma once

#include <array>
#include <cstdint>

namespace calque::math {

template <class T>
struct NormalConstants;

template <>
struct NormalConstants<float> {
  // (1 + 9/8 x) erfcx(x) - 3/4 in (x - 3.75) / (x + 3.75) for x >= 0, relative to the whole; error 2^-28.3
  static constexpr std::array<float, 13> kErfcx = {
      0x1.4101cep-7f,  -0x1.968b14p-3f,  0x1.9d4474p-4f,  -0x1.9e356cp-6f, -0x1.0b4786p-6f,
      0x1.c9c0f8p-6f,  -0x1.6fcb8ap-6f,  0x1.959e66p-7f,  -0x1.346472p-8f, 0x1.ecf32ap-11f,
      0x1.ed595ap-14f, -0x1.d7802cp-14f, 0x1.f2b918p-17f,
  };
  // (1 + 51/64 x) e^(x^2 / 2) ndtr(-x) - 3/8 in (x - 4) / (x + 4) for x >= 0, relative to the whole; error 2^-28.2
  static constexpr std::array<float, 13> kTail = {
      0x1.4d5346p-6f,   -0x1.c9693ap-4f, 0x1.2a5b5cp-5f,   0x1.0d861p-7f,   -0x1.3da998p-6f,
      0x1.9bdd46p-7f,   -0x1.fcbc8ap-9f, -0x1.ad40c6p-14f, 0x1.0be93cp-11f, -0x1.40b796p-14f,
      -0x1.e37598p-15f, 0x1.66419cp-17f, 0x1.52e5d8p-18f,
  };
  // ndtri(1/2 + q) / q - 5/2 in q^2, |q| <= 1/4, relative to the whole; error 2^-30.0
  static constexpr std::array<float, 7> kCenter = {
      0x1.b26408p-8f, 0x1.4ffdc4p1f, 0x1.717dbcp2f, 0x1.f31ef2p3f, 0x1.907bfap5f, 0x1.52f81cp6f, 0x1.1ca412p10f,
  };
  // -ndtri(p) / r - 1 in (r - 2) / (r + 2) with r = sqrt(-log p), p <= 1/4, relative to the whole; error 2^-27.1
  static constexpr std::array<float, 13> kQuantile = {
      0x1.700686p-5f, 0x1.2be226p0f,  -0x1.c5dd98p0f, 0x1.08d712p1f,  -0x1.2321cp1f, 0x1.35c4e4p1f,  -0x1.443f98p1f,
      0x1.508cbp1f,   -0x1.64c992p1f, 0x1.7edf0ap1f,  -0x1.649e2ep1f, 0x1.bce8aep0f, -0x1.ffc68p-2f,
  };
  // the derivative of -ndtri(p) by r, in the same variable; error 2^-7.2
  static constexpr std::array<float, 3> kSlope = {
      0x1.a3fa72p0f,
      -0x1.473bbap-1f,
      0x1.057c24p-1f,
  };
};

template <>
struct NormalConstants<double> {
  // (1 + 9/8 x) erfcx(x) - 3/4 in (x - 3.75) / (x + 3.75) for x >= 0, relative to the whole; error 2^-57.0
  static constexpr std::array<double, 25> kErfcx = {
      0x1.4101ce68b5efep-7,  -0x1.968b107a7884fp-3,  0x1.9d446ab48c1a3p-4,   -0x1.9e388e8da3381p-6,
      -0x1.0b44f199dfd5fp-6, 0x1.c9da81feb0294p-6,   -0x1.6fdc1764d9196p-6,  0x1.94ec344428857p-7,
      -0x1.339a767ebc94bp-8, 0x1.ffe5df6224296p-11,  0x1.9d2ff50d9e591p-14,  -0x1.2a55161b51007p-13,
      0x1.00dce26b4689p-15,  0x1.4bb746c838c61p-17,  -0x1.9a03ee8b67563p-18, -0x1.164976c7a13d7p-22,
      0x1.e5c867294e5e8p-21, -0x1.123f199093ff9p-24, -0x1.1a67d9853ad32p-23, 0x1.23af4f1d4a301p-26,
      0x1.4e8c91d26cc55p-26, -0x1.64b1e67150a57p-29, -0x1.618f1b8649a4bp-29, 0x1.dc527638518bep-33,
      0x1.c7246a28be35dp-33,
  };
  // (1 + 51/64 x) e^(x^2 / 2) ndtr(-x) - 3/8 in (x - 4) / (x + 4) for x >= 0, relative to the whole; error 2^-56.7
  static constexpr std::array<double, 26> kTail = {
      0x1.4d534572bd738p-6,  -0x1.c9693adb26472p-4,  0x1.2a5b5073f8c0cp-5,   0x1.0d87384e95ee2p-7,
      -0x1.3da82a6d79f4cp-6, 0x1.9bd2f0ffeb0f1p-7,   -0x1.fcf9a09515788p-9,  -0x1.9a663fb692c44p-14,
      0x1.0e63595c2e25bp-11, -0x1.626dcb6da254fp-14, -0x1.0d3a4ff0035c6p-14, 0x1.2be1a2b6bf33cp-16,
      0x1.4f0bef61219f4p-17, -0x1.85a64f7ecc9b4p-19, -0x1.0596c1ddff0e4p-19, 0x1.85d81559a8921p-22,
      0x1.c636d45528fbap-22, -0x1.012ceec49dd7ap-27, -0x1.7fc5fe0cef48ap-24, -0x1.13597ba861847p-26,
      0x1.16c3d0a759fa3p-26, 0x1.c3422b994232ap-28,  -0x1.295141e0b5b14p-29, -0x1.8f121911e7b8p-30,
      0x1.51eac1b77525bp-33, 0x1.4e5ffb05a3baap-33,
  };
  // ndtri(1/2 + q) / q - 5/2 in q^2, |q| <= 1/4, relative to the whole; error 2^-57.9
  static constexpr std::array<double, 14> kCenter = {
      0x1.b263fec4e0b22p-8, 0x1.4ffddeaa22e49p1,  0x1.71713082c9919p2,   0x1.f55d0d859b42fp3,  0x1.7849485c3717fp5,
      0x1.2ba92c35809f9p7,  0x1.f03937e3a2c04p8,  0x1.a726c8dc59333p10,  0x1.68a2a4c3caee4p12, 0x1.6f0c25754ff37p14,
      0x1.783a0a9743555p14, 0x1.adf9572c2dc9cp19, -0x1.bee7e94cdf8c3p21, 0x1.499b7390e3e9ep24,
  };
  // -ndtri(p) / r - 1 in (r - 3) / (r + 3) with r = sqrt(-log p), p <= 1/4, relative to the whole; error 2^-55.8
  static constexpr std::array<double, 35> kQuantile = {
      0x1.c6571d29324bfp-3, 0x1.4110390dc07ccp-1, -0x1.f766b4a8db207p-1, 0x1.2f136659eaa13p0,  -0x1.53ff5c2a01d8ap0,
      0x1.6ed20fc91414bp0,  -0x1.84333810ddee7p0, 0x1.959ff1be2b2afp0,   -0x1.a48890bccbab9p0, 0x1.b1633eaaca969p0,
      -0x1.bcc2866b59601p0, 0x1.c6dd67366a863p0,  -0x1.d0011836badddp0,  0x1.d84b573512e94p0,  -0x1.dfe61dbb7a368p0,
      0x1.e6e650c7d08b7p0,  -0x1.ed84456caa88cp0, 0x1.f3b69350bbaf9p0,   -0x1.f886a5c213d6fp0, 0x1.fc1eb8dda1fa8p0,
      -0x1.02c8aac41d426p1, 0x1.0bd0cf548fe8ep1,  -0x1.0811d574a3029p1,  0x1.d14189f99220dp0,  -0x1.ce4c7145b005cp0,
      0x1.5386f9d2890e5p1,  -0x1.b2bc35afd3a17p1, 0x1.fe71c7a4848e6p0,   0x1.301160ec4d41dp-1, -0x1.bf2030c5b03cep-3,
      -0x1.e236c9a91b473p1, 0x1.a05e39f187e33p2,  -0x1.4296bac842f16p2,  0x1.fcbfac658c078p0,  -0x1.4dc1aa2169f9p-2,
  };
  // the derivative of -ndtri(p) by r, in the same variable; error 2^-6.1
  static constexpr std::array<double, 3> kSlope = {
      0x1.8ba7d80315544p0,
      -0x1.d9dc2fe742affp-2,
      0x1.a40aeddbac6ccp-2,
  };
};

}  // namespace calque::math
