// Printed by lib/math/coefficients/gamma.py; do not edit.
#pragma once

#include <array>
#include <cstdint>

namespace calque::math {

template <class T>
struct GammaConstants;

template <>
struct GammaConstants<float> {
  // (log(2 pi) - 1) / 2
  static constexpr double kHalfLog2PiLess_0 = 0x1.acfe390c97d69p-2;
  static constexpr double kHalfLog2PiLess_1 = 0x1.3494bc9001442p-56;
  // log pi
  static constexpr double kLogPi_0 = 0x1.250d048e7a1bdp0;
  static constexpr double kLogPi_1 = 0x1.7abf2ad8d5088p-57;
  // the positive root of digamma, less 2
  static constexpr double kDigammaRootLess2_0 = -0x1.13a4f39528381p-1;
  static constexpr double kDigammaRootLess2_1 = -0x1.1e563779a1f5bp-56;
  // lgamma(2 + v) / (v (1 + v)) on |v| <= 1, relative; error 2^-35.4
  static constexpr std::array<double, 17> kLgamma = {
      0x1.b0ee607213a5ap-2,  -0x1.9ae650940cdb3p-4,  0x1.0e0c9dbeecdc1p-5,   -0x1.95ce31d07a223p-7,
      0x1.4797727b0fbc1p-8,  -0x1.144dcc6d32ba6p-9,  0x1.dfde9f484d7fcp-11,  -0x1.aa0d22170fa7fp-12,
      0x1.7fddfcfec36d3p-13, -0x1.545f0fa545c69p-14, 0x1.34d1b84f8503cp-15,  -0x1.628659797a47dp-16,
      0x1.5c66dbb84c1ap-17,  -0x1.e11791296f569p-22, -0x1.0d574d9d6050ep-23, -0x1.4a3c7771ddbf5p-19,
      0x1.4f2b8378d5ac8p-20,
  };
  // z (lgamma(z) - (z - 1/2) log z + z - log(2 pi) / 2) in 1 / z^2, z >= 3, lgamma absolute; error 2^-37.8
  static constexpr std::array<double, 5> kStirling = {
      0x1.5555554b5bdbcp-4, -0x1.6c15d5cdb5bdp-9, 0x1.9f54dbab12262p-11, -0x1.26b0aae2674bp-11, 0x1.fbc6d51aaa904p-12,
  };
  // gamma(2 + v) on [0, 1], relative; error 2^-37.4
  static constexpr std::array<double, 11> kGamma = {
      0x1.fffffffff3b18p-1,  0x1.b0ee608bb5ca2p-2,   0x1.a5b97450c8a2ep-2,  0x1.4e24c79e1e8b9p-4,
      0x1.301553bf942acp-4,  -0x1.c3e7c7ce1680ap-13, 0x1.67f02d49970c3p-7,  -0x1.455c228e9c294p-9,
      0x1.9731c7ab62584p-10, -0x1.6fcbea125634ap-12, 0x1.21953023cd04cp-14,
  };
  // z^2 (log z - 1 / (2 z) - digamma(z)) in 1 / z^2, z >= 3, digamma absolute; error 2^-40.9
  static constexpr std::array<double, 6> kDigammaLarge = {
      0x1.555555420df57p-4,  -0x1.1110a19319ff1p-7, 0x1.03d9dd5a5421fp-8,
      -0x1.0ac9b35118de4p-8, 0x1.8c7af8cd4b5f3p-8,  -0x1.ce467a06e9462p-8,
  };
  // digamma(2 + v) / (2 + v - root) on |v| <= 1, relative; error 2^-34.3
  static constexpr std::array<double, 18> kDigamma = {
      0x1.9213d467879c1p-1,  -0x1.0aff270ed7aa2p-2,  0x1.be76b0da33816p-4,   -0x1.95ec07d1573bap-5,
      0x1.8029ca5096cedp-6,  -0x1.738aeebc81b2p-7,   0x1.6bc56dcf00935p-8,   -0x1.66eb45156c7c2p-9,
      0x1.660d0bb8f0df2p-10, -0x1.64e4bd5f653edp-11, 0x1.4a627b62a4bddp-12,  -0x1.43658b58ea4fcp-13,
      0x1.edf9f0f19e05dp-14, -0x1.040ba3ef008aap-14, -0x1.39ab02272088fp-17, 0x1.b30975419b3c6p-18,
      0x1.3256b3313dad8p-16, -0x1.408ea74525508p-17,
  };
};

template <>
struct GammaConstants<double> {
  // (log(2 pi) - 1) / 2
  static constexpr double kHalfLog2PiLess_0 = 0x1.acfe390c97d69p-2;
  static constexpr double kHalfLog2PiLess_1 = 0x1.3494bc9001442p-56;
  // log pi
  static constexpr double kLogPi_0 = 0x1.250d048e7a1bdp0;
  static constexpr double kLogPi_1 = 0x1.7abf2ad8d5088p-57;
  // the positive root of digamma, less 2
  static constexpr double kDigammaRootLess2_0 = -0x1.13a4f39528381p-1;
  static constexpr double kDigammaRootLess2_1 = -0x1.1e563779a1f5bp-56;
  // lgamma(2 + v) / (v (1 + v)) on |v| <= 1, relative; error 2^-55.9
  static constexpr std::array<double, 28> kLgamma = {
      0x1.b0ee6072093cep-2,   -0x1.9ae6509ea109ep-4,  0x1.0e0c9df2935d9p-5,  -0x1.95ce223a9d2e3p-7,
      0x1.47974853952bbp-8,   -0x1.145121f954134p-9,  0x1.dfebcf9f0a76bp-11, -0x1.a96a403c69bdbp-12,
      0x1.7ed7304486913p-13,  -0x1.5c86aefcc9be3p-14, 0x1.402f7bc2d92adp-15, -0x1.28511b585ef3ap-16,
      0x1.13db97aad8b9bp-17,  -0x1.02225f7ecf8e2p-18, 0x1.e644410dd776dp-20, -0x1.cb4da278ffb0fp-21,
      0x1.a8e2db7d94856p-22,  -0x1.8f90accb786c5p-23, 0x1.c0aa5eab9b6f6p-24, -0x1.bfc8385c4053fp-25,
      0x1.85a392fcb8c7bp-28,  -0x1.848cf148de76dp-31, 0x1.18b16d78d4b9fp-26, -0x1.3525be7179d97p-27,
      -0x1.2bce6f9d9a72ep-28, 0x1.557b41f9255e9p-29,  0x1.b2f84f0af86c4p-30, -0x1.c37e3eb89559ap-31,
  };
  // z (lgamma(z) - (z - 1/2) log z + z - log(2 pi) / 2) in 1 / z^2, z >= 3, lgamma absolute; error 2^-58.3
  static constexpr std::array<double, 11> kStirling = {
      0x1.5555555555547p-4,  -0x1.6c16c16bb7b42p-9,  0x1.a01a002c01a8bp-11, -0x1.3812d7f800d95p-11,
      0x1.b9268182d854dp-11, -0x1.f3303f03eb327p-10, 0x1.8c3119f24f817p-8,  -0x1.70588826aa90bp-6,
      0x1.3d70148247bc3p-4,  -0x1.890396c08e6dep-3,  0x1.e34313248e866p-3,
  };
  // gamma(2 + v) on [0, 1], relative; error 2^-56.8
  static constexpr std::array<double, 17> kGamma = {
      0x1p0,
      0x1.b0ee607209404p-2,
      0x1.a5b978b96a4b7p-2,
      0x1.4e2399857f174p-4,
      0x1.301fbaf6e7769p-4,
      -0x1.17f23531d069cp-12,
      0x1.6d7e94e7881ebp-7,
      -0x1.75dee17f7c11p-9,
      0x1.13a1a235e5ba5p-9,
      -0x1.e0643255b1393p-11,
      0x1.f9e1111754273p-12,
      -0x1.dab7383e0f0edp-13,
      0x1.a81f4d297a78ep-14,
      -0x1.41f51e9d22f5p-15,
      0x1.7d3f582921595p-17,
      -0x1.2d0f2d2aded87p-19,
      0x1.d26171588d369p-23,
  };
  // z^2 (log z - 1 / (2 z) - digamma(z)) in 1 / z^2, z >= 3, digamma absolute; error 2^-56.9
  static constexpr std::array<double, 11> kDigammaLarge = {
      0x1.55555555551c5p-4, -0x1.1111110d340dcp-7, 0x1.04103b2895006p-8, -0x1.110ed42c3e2e1p-8,
      0x1.effab47cbc402p-8, -0x1.54daf7dda4867p-6, 0x1.36eece5e131f5p-4, -0x1.38991cbbefed7p-2,
      0x1.15393abd9588fp0,  -0x1.5715e95af6b9bp1,  0x1.9fe6f852fc828p1,
  };
  // digamma(2 + v) / (2 + v - root) on |v| <= 1, relative; error 2^-53.7
  static constexpr std::array<double, 29> kDigamma = {
      0x1.9213d46736ba4p-1,  -0x1.0aff270ca07ap-2,   0x1.be76b26db7fe1p-4,   -0x1.95ec0c3bac00cp-5,
      0x1.802924f9ae3bcp-6,  -0x1.7389aa7ed349bp-7,  0x1.6bdf5e16cef8fp-8,   -0x1.6714d06866614p-9,
      0x1.640760f203c63p-10, -0x1.620eef4be9c96p-11, 0x1.60c667dcf58e8p-12,  -0x1.5ff19f34166d2p-13,
      0x1.5f652925b834ep-14, -0x1.5ed95b7b23be3p-15, 0x1.5e893eeaefa5ep-16,  -0x1.60aec7f9ff125p-17,
      0x1.6144f015057fbp-18, -0x1.4c4e28167e30bp-19, 0x1.4778fd5adba25p-20,  -0x1.ce47f6b6174b9p-21,
      0x1.e56f4c207127dp-22, 0x1.059301b930ba1p-24,  -0x1.9fb47903ec9bcp-25, -0x1.b30234bfc725ep-23,
      0x1.dce3cd029266ap-24, 0x1.0bddaec39aba8p-24,  -0x1.26ac4f80c99dp-25,  -0x1.485115a9d08c4p-26,
      0x1.57a2d1ca03704p-27,
  };
};

}  // namespace calque::math
