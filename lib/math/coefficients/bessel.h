// Printed by lib/math/coefficients/bessel.py; do not edit.
#pragma once

#include <array>
#include <cstdint>

namespace calque::math {

template <class T>
struct BesselConstants;

template <>
struct BesselConstants<float> {
  // I0(x) in (x / 2)^2, x <= 4, relative; error 2^-30.4
  static constexpr std::array<float, 8> kI0InSquare = {
      0x1p0f, 0x1p0f, 0x1.fffffap-3f, 0x1.c71d3p-6f, 0x1.c70b9p-10f, 0x1.23fbc8p-14f, 0x1.f60a5ap-20f, 0x1.a79844p-25f,
  };
  // e^-x I0(x) in x / 2 - 1, x <= 4, relative; error 2^-24.4
  static constexpr std::array<float, 14> kI0Scaled = {
      0x1.3be99cp-2f,  -0x1.7de838p-3f,  0x1.42f14p-3f,   -0x1.07fa82p-3f,  0x1.81b1a4p-4f,
      -0x1.ef0bc6p-5f, 0x1.17a9b2p-5f,   -0x1.18bd78p-6f, 0x1.fafd7ep-8f,   -0x1.99e8b6p-9f,
      0x1.21eeccp-10f, -0x1.987508p-12f, 0x1.533e7ep-13f, -0x1.6777e2p-15f,
  };
  // sqrt(x) e^-x I0(x) in 8 / x - 1, x >= 4, relative; error 2^-25.4
  static constexpr std::array<float, 11> kI0Large = {
      0x1.9f6c3ep-2f,   0x1.e1a5fp-8f,    0x1.81509ep-11f, 0x1.866f26p-13f, 0x1.5746a6p-14f,  0x1.e52b6p-18f,
      -0x1.770c5cp-15f, -0x1.0f68c2p-16f, 0x1.5ac1e6p-16f, 0x1.18f40cp-18f, -0x1.948d2ap-18f,
  };
  // I1(x) / x in (x / 2)^2, x <= 4, relative; error 2^-32.8
  static constexpr std::array<float, 8> kI1InSquare = {
      0x1p-1f,         0x1p-2f,         0x1.555554p-5f,  0x1.c71cc6p-9f,
      0x1.6c0f56p-13f, 0x1.84fbf4p-18f, 0x1.21034ap-23f, 0x1.9cf666p-29f,
  };
  // e^-x I1(x) / x in x / 2 - 1, x <= 4, relative; error 2^-24.9
  static constexpr std::array<float, 14> kI1Scaled = {
      0x1.b8df1ap-4f,  -0x1.f3d5fep-4f,  0x1.aacfaap-4f,  -0x1.311a86p-4f,  0x1.79130ap-5f,
      -0x1.99e928p-6f, 0x1.8ce6a6p-7f,   -0x1.5a0878p-8f, 0x1.1257b8p-9f,   -0x1.8b34ap-11f,
      0x1.001868p-12f, -0x1.48abeap-14f, 0x1.d45aap-16f,  -0x1.b66f98p-18f,
  };
  // sqrt(x) e^-x I1(x) in 8 / x - 1, x >= 4, relative; error 2^-25.8
  static constexpr std::array<float, 11> kI1Large = {
      0x1.8484a6p-2f,  -0x1.4fa63cp-6f, -0x1.270e78p-10f, -0x1.eef308p-13f, -0x1.913be4p-14f, -0x1.9ee966p-17f,
      0x1.68a2f2p-15f, 0x1.4626dap-16f, -0x1.129e9cp-16f, -0x1.4c8176p-18f, 0x1.216aecp-18f,
  };
};

template <>
struct BesselConstants<double> {
  // I0(x) in (x / 2)^2, x <= 8, relative; error 2^-65.1
  static constexpr std::array<double, 17> kI0InSquare = {
      0x1p0,
      0x1p0,
      0x1p-2,
      0x1.c71c71c71c71cp-6,
      0x1.c71c71c71c739p-10,
      0x1.23456789aba0ep-14,
      0x1.02e85c089d86p-19,
      0x1.522a43f5b1db4p-25,
      0x1.522a4404a7d11p-31,
      0x1.0b3131a8f42ddp-37,
      0x1.56019c0b80b0ep-44,
      0x1.69c95e3158b7fp-51,
      0x1.41a640b6d9f79p-58,
      0x1.e63095d2d03f6p-66,
      0x1.43b49d9d62813p-73,
      0x1.3f77629a2b2bp-81,
      0x1.127b1c06e2711p-88,
  };
  // e^-x I0(x) in x / 4 - 1, x <= 8, relative; error 2^-55.8
  static constexpr std::array<double, 30> kI0Scaled = {
      0x1.a7f09f8eedf5ap-3,  -0x1.cedda0048620bp-4,  0x1.8322d1d8a3bc1p-4,  -0x1.6cb8d0c9158cep-4,
      0x1.65c235bfea8e2p-4,  -0x1.5c028fe646dcap-4,  0x1.44b6196a7aa4fp-4,  -0x1.1cd73a8e7a46fp-4,
      0x1.d11e10f5c4f2cp-5,  -0x1.602411e18166fp-5,  0x1.ee6f5651afa37p-6,  -0x1.427b09a2d3ce2p-6,
      0x1.87e86787e6e34p-7,  -0x1.bd258da5e9c12p-8,  0x1.da1aa28c3d9c6p-9,  -0x1.daf9c01cc4495p-10,
      0x1.c0f4933ab511cp-11, -0x1.917fb276b17f9p-12, 0x1.5497903b3ca57p-13, -0x1.12c8a6ab64f8fp-14,
      0x1.a6cb164ecf119p-16, -0x1.363d8e83f7e94p-17, 0x1.b1a61cbc87c57p-19, -0x1.2568270b74d9fp-20,
      0x1.89bdab61b36a7p-22, -0x1.de40a3c38ea8bp-24, 0x1.c82f669b01eep-26,  -0x1.2435edaa180c5p-27,
      0x1.3055ff6c902c5p-28, -0x1.279c99ed8f607p-30,
  };
  // sqrt(x) e^-x I0(x) in 16 / x - 1, x >= 8, relative; error 2^-53.8
  static constexpr std::array<double, 26> kI0Large = {
      0x1.9bd428ad249a5p-2,   0x1.b87969bb93baep-9,  0x1.1daa72b5e33f1p-13,  0x1.75e5ee7062143p-17,
      0x1.8e513a61682b8p-20,  0x1.3f49ac706fe4bp-22, 0x1.7d0f283dc3c24p-24,  0x1.51cc6497a1069p-25,
      0x1.7230152c6a153p-26,  0x1.03d54b19b132ap-27, -0x1.cf74df9d8fa8bp-28, -0x1.cdfd949faf354p-27,
      -0x1.74468e62de4acp-28, 0x1.0794bfe8475aep-27, 0x1.00554e83c70ebp-27,  -0x1.029b071ed8fc4p-28,
      -0x1.9c5f44f60028bp-28, 0x1.04d78b6a9b668p-29, 0x1.faca10235159ep-29,  -0x1.03041acb79aeep-30,
      -0x1.c60917d9c640bp-30, 0x1.a7e94a41f91c6p-32, 0x1.027f9a1e1cf02p-31,  -0x1.ccf4139f238dbp-34,
      -0x1.14057911d9fap-34,  0x1.db7ed655983eap-37,
  };
  // I1(x) / x in (x / 2)^2, x <= 8, relative; error 2^-63.5
  static constexpr std::array<double, 17> kI1InSquare = {
      0x1p-1,
      0x1p-2,
      0x1.5555555555555p-5,
      0x1.c71c71c71c735p-9,
      0x1.6c16c16c1695fp-13,
      0x1.845c8a0cea2fp-18,
      0x1.27e4fb772c306p-23,
      0x1.522a43ff2c38cp-29,
      0x1.2c975847feb5dp-35,
      0x1.ab81f7f49a776p-42,
      0x1.f175b48b9e89p-49,
      0x1.e26e33e4763ddp-56,
      0x1.8b72cb0845e95p-63,
      0x1.187568eec21ebp-70,
      0x1.43ce43fa2e49ap-78,
      0x1.a779eae9b1db5p-86,
      0x1.22271628a3946p-94,
  };
  // e^-x I1(x) / x in x / 4 - 1, x <= 8, relative; error 2^-53.6
  static constexpr std::array<double, 30> kI1Scaled = {
      0x1.6e14eb8e5d319p-5,  -0x1.f4bb071a7752bp-5,  0x1.16c390ddb08ecp-4,  -0x1.1881379ffb5cap-4,
      0x1.0530f817ffa01p-4,  -0x1.c4daa5134196cp-5,  0x1.6df95e8be0bf9p-5,  -0x1.13d5f358a8df7p-5,
      0x1.84125b0d12fc7p-6,  -0x1.fe3d9c00ec602p-7,  0x1.3a0c1a0239261p-7,  -0x1.6ab6a3921fd8p-8,
      0x1.89f8a66f91eccp-9,  -0x1.936825c013a5cp-10, 0x1.8656c389d4322p-11, -0x1.65bf70daedea7p-12,
      0x1.3742f66fe54dcp-13, -0x1.01a3cf2655436p-14, 0x1.9694649df4eacp-16, -0x1.326f73fff9fa2p-17,
      0x1.ba0d6dd3b12d3p-19, -0x1.314bc6dc2a342p-20, 0x1.93fb0042b7cdbp-22, -0x1.030afa62539cbp-23,
      0x1.453ea60478a4fp-25, -0x1.750717a8158b8p-27, 0x1.6d40933b005d3p-29, -0x1.d013d02580f47p-31,
      0x1.913e8b72802b5p-32, -0x1.59989b7189895p-34,
  };
  // sqrt(x) e^-x I1(x) in 16 / x - 1, x >= 8, relative; error 2^-55.6
  static constexpr std::array<double, 26> kI1Large = {
      0x1.8ebe783a8403p-2,    -0x1.3f796198ee638p-7,  -0x1.cbc54df1e9d3p-13,  -0x1.f89c2304ec523p-17,
      -0x1.ec8e105e8869bp-20, -0x1.761383f16bb08p-22, -0x1.ad8d65cec6f15p-24, -0x1.727812d2ca1dcp-25,
      -0x1.918cec9e2e44dp-26, -0x1.21d30aacdb724p-27, 0x1.ce8c8661246ep-28,   0x1.e370d7d2653a5p-27,
      0x1.9b6cfc52a3cdp-28,   -0x1.0a8e015fb4917p-27, -0x1.1011ab2aa7b8ap-27, 0x1.f94d245bf8424p-29,
      0x1.b040611a2662p-28,   -0x1.f095ff428ceadp-30, -0x1.082bab699bc5fp-28, 0x1.e9ac1dc657f5p-31,
      0x1.d82b28817e72dp-30,  -0x1.937fbb844371fp-32, -0x1.0c7f53e31bc52p-31, 0x1.bc0a46c79d6e3p-34,
      0x1.1e82f3492976p-34,   -0x1.cfe38627eb124p-37,
  };
};

}  // namespace calque::math
