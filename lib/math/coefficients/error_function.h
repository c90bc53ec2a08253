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
  // log(erfc(x)) on [1, 4.0], erfc absolute; error 2^-29.8
  static constexpr std::array<float, 7> kLogErfc = {
      -0x1.72f308p-12f, -0x1.2085aep0f,  -0x1.46c596p-1f, -0x1.a609e4p-4f,
      0x1.6540a6p-6f,   -0x1.81493ap-9f, 0x1.852636p-13f,
  };
  // (1 + 2 x) e^(x^2) erfc(x) - 1 in (x - 3) / (x + 3) on [1/2, 10.2], relative; error 2^-26.6
  static constexpr std::array<float, 10> kErfcScaled = {
      0x1.03148cp-2f, -0x1.15c07cp-3f, -0x1.85a1b4p-5f, 0x1.098202p-3f, -0x1.e88b14p-4f,
      0x1.17eabep-4f, -0x1.855b36p-6f, 0x1.38e288p-9f,  0x1.e1973p-10f, -0x1.12a748p-11f,
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
  // log(erfc(x)) on [1, 6.0], erfc absolute; error 2^-57.1
  static constexpr std::array<double, 18> kLogErfc = {
      -0x1.13acb11a921b4p-21, -0x1.20dd1e2617b5dp0,   -0x1.45f63600433a5p-1,  -0x1.a4ab2067e106bp-4,
      0x1.371965698c864p-6,   0x1.b1b3d0d1021c8p-12,  -0x1.f70f82139712bp-10, 0x1.9554a50c78567p-11,
      -0x1.1e75de088f327p-13, -0x1.4735cbb4ad7bap-16, 0x1.79e87dac28ab9p-16,  -0x1.1fc64d1ea3e32p-17,
      0x1.1bc3cd1ddbd7bp-19,  -0x1.8cb3cf484fccep-22, 0x1.8a70793451959p-25,  -0x1.0b3a59a1b9883p-28,
      0x1.bc1c5f450809ep-33,  -0x1.5635affd3687cp-38,
  };
  // (1 + 2 x) e^(x^2) erfc(x) - 1 in (x - 3) / (x + 3) on [1/2, 27.5], relative; error 2^-56.6
  static constexpr std::array<double, 23> kErfcScaled = {
      0x1.03148b5f9261dp-2,  -0x1.15c084bb9e8f3p-3,  -0x1.85a15c58aa5dap-5,  0x1.098366a5b46d9p-3,
      -0x1.e88b803a49405p-4, 0x1.17ca2877f09dp-4,    -0x1.8574c40bc5771p-6,  0x1.4b884e4509184p-9,
      0x1.ef1bdd3c157c8p-10, -0x1.98db5135b0614p-11, -0x1.b9126c1b15016p-14, 0x1.065a3a00b7418p-13,
      0x1.4c21238beda39p-18, -0x1.513b8d8727e8ep-16, -0x1.87d452b49197cp-21, 0x1.d208992df6a7cp-19,
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
