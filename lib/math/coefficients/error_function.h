// Printed by lib/math/coefficients/error_function.py; do not edit.
#pragma once

#include <array>
#include <cstdint>

namespace calque::math {

template <class T>
struct ErrorFunctionConstants;

template <>
struct ErrorFunctionConstants<float> {
  // erf(x) / x - 1 in x^2, |x| <= 1, erf relative; error 2^-29.4
  static constexpr std::array<float, 7> kErf = {
      0x1.06eba8p-3f, -0x1.81273ep-2f,  0x1.ce2ce6p-4f,  -0x1.b7f71ap-6f,
      0x1.53f22cp-8f, -0x1.a35228p-11f, 0x1.4776b6p-14f,
  };
  // the same for |x| <= 1/2; error 2^-29.3
  static constexpr std::array<float, 5> kErfSmall = {
      0x1.06eba8p-3f, -0x1.812734p-2f, 0x1.ce2544p-4f, -0x1.b66846p-6f, 0x1.35465ep-8f,
  };
  // log2(8 erfc(1 + t)) on [0, 3.0], erfc absolute; error 2^-29.4
  static constexpr std::array<float, 7> kLog2Erfc = {
      0x1.538a92p-2f, -0x1.e7531ep1f, -0x1.3763d4p0f, -0x1.ea4fc4p-5f, 0x1.d248bp-7f, -0x1.54f384p-9f, 0x1.0e60a4p-12f,
  };
  // erf(x) / x - 1 as above, for 4 ulp; error 2^-24.5
  static constexpr std::array<float, 6> kErfFast = {
      0x1.06eba2p-3f, -0x1.81267p-2f, 0x1.ce0884p-4f, -0x1.b59996p-6f, 0x1.42140cp-8f, -0x1.268a6ep-11f,
  };
  // log2(8 erfc(1 + t)) as above, for 4 ulp; error 2^-25.9
  static constexpr std::array<float, 6> kLog2ErfcFast = {
      0x1.538a8ap-2f, -0x1.e752bep1f, -0x1.376dc4p0f, -0x1.e4e2bp-5f, 0x1.aada28p-7f, -0x1.b3bfa4p-10f,
  };
  // (2^r - 1) / r on |r| <= 1/2, weighted so that 2^r is relative; error 2^-27.5
  static constexpr std::array<float, 6> kExp2 = {
      0x1.62e432p-1f, 0x1.ebfbe6p-3f, 0x1.c6ada8p-5f, 0x1.3b21cap-7f, 0x1.5fbcfap-10f, 0x1.4be50cp-13f,
  };
  // the same, for 4 ulp; error 2^-21.1
  static constexpr std::array<float, 5> kExp2Fast = {
      0x1.62e39ep-1f, 0x1.ebfa4ep-3f, 0x1.c74312p-5f, 0x1.3cbe4cp-7f, 0x1.23affp-10f,
  };
  // (1 + 2 x) e^(x^2) erfc(x) - 5/4 in (x - 3) / (x + 3) on [1/2, 10.2], relative to the whole; error 2^-29.6
  static constexpr std::array<float, 11> kErfcScaled = {
      0x1.8a45b6p-9f,  -0x1.15c084p-3f, -0x1.85a18cp-5f, 0x1.098354p-3f,   -0x1.e8893cp-4f,  0x1.17ccep-4f,
      -0x1.85c3bep-6f, 0x1.489baep-9f,  0x1.005984p-9f,  -0x1.6bd514p-11f, -0x1.8a2fa6p-13f,
  };
  // erf_inv(x) / x - 1 in -log(1 - x^2), |x| <= 0.9, relative; error 2^-28.0
  static constexpr std::array<float, 7> kErfInvCenter = {
      -0x1.d203b8p-4f,  0x1.db2a16p-3f,  0x1.7a623ap-7f,   -0x1.3119fep-9f,
      -0x1.27c3c6p-13f, 0x1.ea888ap-15f, -0x1.d01256p-19f,
  };
  // erf_inv(x) / s - 1 in (s - 2) / (s + 2) with s = sqrt(-log(1 - x)), x >= 0.9, relative; error 2^-27.0
  static constexpr std::array<float, 9> kErfInvTail = {
      -0x1.53c672p-3f, 0x1.b9427cp-2f, -0x1.b1ede2p-2f, 0x1.9d93c2p-3f, 0x1.9b2e8ap-8f,
      -0x1.03f9b6p-3f, 0x1.3196bcp-3f, -0x1.153b1ap-3f, 0x1.6d8504p-4f,
  };
};

template <>
struct ErrorFunctionConstants<double> {
  // erf(x) / x - 1 in x^2, |x| <= 1, erf relative; error 2^-56.0
  static constexpr std::array<double, 12> kErf = {
      0x1.06eba8214db68p-3,  -0x1.812746b03799dp-2,  0x1.ce2f21a03f8b2p-4,  -0x1.b82ce311a89fap-6,
      0x1.565bccee9d21p-8,   -0x1.c02daea87751dp-11, 0x1.f9a294d153c27p-14, -0x1.f4c809b83f235p-17,
      0x1.b96994d787c98p-20, -0x1.5b7faa60dbc02p-23, 0x1.d377c84706f03p-27, -0x1.a0e5af2d2fa58p-31,
  };
  // the same for |x| <= 1/2; error 2^-56.0
  static constexpr std::array<double, 9> kErfSmall = {
      0x1.06eba8214db68p-3,  -0x1.812746b03794ap-2,  0x1.ce2f21a03470fp-4,
      -0x1.b82ce30a7ea0ep-6, 0x1.565bcacb3abc8p-8,   -0x1.c02cfd22bf22ep-11,
      0x1.f9814c7b3f59fp-14, -0x1.f12c578b24808p-17, 0x1.8368058387b2bp-20,
  };
  // log2(8 erfc(1 + t)) on [0, 5.0], erfc absolute; error 2^-56.8
  static constexpr std::array<double, 18> kLog2Erfc = {
      0x1.538a92cce4068p-2,   -0x1.e75328fe78c2cp1,   -0x1.37627e9b5d8efp0,   -0x1.eb313685d8032p-5,
      0x1.da57640ceab5cp-7,   -0x1.7603d9878a028p-9,  0x1.6701a9dff3047p-12,  0x1.3e3e2ad8ee459p-15,
      -0x1.492a990821171p-15, 0x1.d42ca21628a74p-17,  -0x1.9ccc24ff15ab1p-19, 0x1.3d2521a0b14f8p-22,
      0x1.67bd74514d7d6p-24,  -0x1.9e0a57104da5cp-25, 0x1.a68f0ab5de53ap-27,  -0x1.05c6995036f6ap-29,
      0x1.7afb27198a90ap-33,  -0x1.ee9b0dd3fbcb7p-38,
  };
  // erf(x) / x - 1 as above, for 4 ulp; error 2^-51.2
  static constexpr std::array<double, 11> kErfFast = {
      0x1.06eba8214db59p-3,  -0x1.812746b0372b3p-2,  0x1.ce2f219ffbcbfp-4,  -0x1.b82ce3016d34dp-6,
      0x1.565bcaeec2c89p-8,  -0x1.c02d64f4b4d8fp-11, 0x1.f99bf4887e284p-14, -0x1.f465fa3057e5bp-17,
      0x1.b5c461003387cp-20, -0x1.45f05a9ca79cbp-23, 0x1.433dfebd31669p-27,
  };
  // log2(8 erfc(1 + t)) as above, for 4 ulp; error 2^-52.5
  static constexpr std::array<double, 16> kLog2ErfcFast = {
      0x1.538a92cce4057p-2,   -0x1.e75328fe78982p1,   -0x1.37627e9b6ec79p0,   -0x1.eb31365b240b3p-5,
      0x1.da575d4afadb3p-7,   -0x1.7603384911e6ep-9,  0x1.66ee682222204p-12,  0x1.3fcc085de6adep-15,
      -0x1.4bf9aa519fd2ap-15, 0x1.e2b4595252dacp-17,  -0x1.d342c49369edap-19, 0x1.3315675fa6376p-21,
      -0x1.c5412dc45da1ap-25, -0x1.6e0dfcdd501d2p-33, 0x1.516b2f82d6e26p-31,  -0x1.a49eff6d80d23p-35,
  };
  // (2^r - 1) / r on |r| <= 1/2, weighted so that 2^r is relative; error 2^-55.5
  static constexpr std::array<double, 11> kExp2 = {
      0x1.62e42fefa39f3p-1,  0x1.ebfbdff82c599p-3,  0x1.c6b08d7048dc4p-5,  0x1.3b2ab6fba1bp-7,
      0x1.5d87fe7bf7c43p-10, 0x1.4309130a3350bp-13, 0x1.ffcbed3c062d6p-17, 0x1.62bfd21eb335ep-20,
      0x1.b5433f9c81f7p-24,  0x1.e60af7ed4c699p-28, 0x1.bdecc6617b132p-32,
  };
  // the same, for 4 ulp; error 2^-51.6
  static constexpr std::array<double, 10> kExp2Fast = {
      0x1.62e42fefa3a28p-1,  0x1.ebfbdff82c61fp-3,  0x1.c6b08d703956cp-5,  0x1.3b2ab6fb8214cp-7,  0x1.5d87fea4a45e2p-10,
      0x1.43091387911c6p-13, 0x1.ffcb3f2612a4bp-17, 0x1.62be691f35c3ap-20, 0x1.b689a791e3f3dp-24, 0x1.e8b5adb25bad2p-28,
  };
  // (1 + 2 x) e^(x^2) erfc(x) - 5/4 in (x - 3) / (x + 3) on [1/2, 27.5], relative to the whole; error 2^-58.5
  static constexpr std::array<double, 23> kErfcScaled = {
      0x1.8a45afc930e6ap-9,  -0x1.15c084bb9e8f3p-3,  -0x1.85a15c58aa5cap-5,  0x1.098366a5b46d9p-3,
      -0x1.e88b803a49413p-4, 0x1.17ca2877f09d5p-4,   -0x1.8574c40bc5747p-6,  0x1.4b884e4508e32p-9,
      0x1.ef1bdd3c1552p-10,  -0x1.98db5135aed8ap-11, -0x1.b9126c1b18acdp-14, 0x1.065a3a00b370ep-13,
      0x1.4c21238c5fec4p-18, -0x1.513b8d872cd87p-16, -0x1.87d452b5c30ap-21,  0x1.d208992e226b9p-19,
      0x1.7a23fcf1e5cbdp-22, -0x1.4a737546d62c4p-21, -0x1.1ec899a218866p-23, 0x1.ab4dc68e75b31p-24,
      0x1.2075681149511p-25, -0x1.76d641156b294p-27, -0x1.19287888dea3ep-28,
  };
  // erf_inv(x) / x - 1 in -log(1 - x^2), |x| <= 0.9, relative; error 2^-57.9
  static constexpr std::array<double, 15> kErfInvCenter = {
      -0x1.d203b725884abp-4,  0x1.db29fb2fee601p-3,  0x1.7a72e72c1a4e7p-7,   -0x1.3211025cdf0cfp-9,
      -0x1.0c86b8ecd360ap-13, 0x1.8701594db60bfp-15, 0x1.0f1c21fb36448p-19,  -0x1.0fc4f8ad1636ep-20,
      -0x1.4218ddc2fad6fp-25, 0x1.8b4db5ae01dd5p-26, 0x1.431d5d2d90971p-31,  -0x1.da42feb8042fep-32,
      -0x1.da16adb7edf47p-35, 0x1.9c64cde2398cdp-36, -0x1.1b222d5c1629fp-39,
  };
  // erf_inv(x) / s - 1 in (s - 2) / (s + 2) with s = sqrt(-log(1 - x)), x >= 0.9, relative; error 2^-56.9
  static constexpr std::array<double, 20> kErfInvTail = {
      -0x1.53c6712bd679p-3,  0x1.b9427f5b56a22p-2, -0x1.b1eefc3077df6p-2, 0x1.9d92397d730a3p-3,  0x1.b8b98e97f35d7p-8,
      -0x1.0660b388d41bfp-3, 0x1.1a24bb71654fp-3,  -0x1.298ce16b6b25dp-4, -0x1.bfd7626582f88p-7, 0x1.23a155d5350f8p-4,
      -0x1.3f703c3b31b07p-4, 0x1.4fde98bc63b5p-5,  0x1.7173c12072c57p-7,  -0x1.8d19be8e29b6dp-5, 0x1.b657eb5924896p-5,
      -0x1.0178cb3b524abp-5, 0x1.b49e5f1dead4ep-9, 0x1.5ac7b749b7486p-7,  -0x1.112d4eaf9b3cfp-7, 0x1.18d63e089eaefp-9,
  };
};

}  // namespace calque::math
