#pragma once
// Random bits by counter: a block cipher of a counter under a key, so that every element is computed by itself, in any
// order and on any device, and fuses with what uses it.
#include <array>
#include <bit>
#include <cstdint>
#include <utility>

#include "primitives/core/rule.h"

namespace calque::primitives {

/// Threefry-2x32 with 20 rounds (Salmon, Moraes, Dror, Shaw: Parallel Random Numbers: As Easy as 1, 2, 3, SC 2011).
struct Threefry {
  static constexpr int kRounds = 20;
  /// Bits by which the second word is rotated in each of eight rounds.
  static constexpr std::array<int, 8> kRotations{13, 15, 26, 6, 17, 29, 16, 24};
  /// The third word of the key schedule makes the exclusive or of all words this constant.
  static constexpr uint32_t kParity = 0x1bd11bda;
  /// Operations on words, of which 20 are rotations.
  static constexpr int kOperations = 73;

  static constexpr std::pair<uint32_t, uint32_t> encrypt(uint32_t k0, uint32_t k1, uint32_t x0, uint32_t x1) {
    const std::array<uint32_t, 3> keys{k0, k1, k0 ^ k1 ^ kParity};
    x0 += k0;
    x1 += k1;
    for (uint32_t round = 0; round < kRounds;) {
      x0 += x1;
      x1 = std::rotl(x1, kRotations[round % 8]) ^ x0;
      if (++round % 4 != 0) continue;
      const uint32_t injection = round / 4;
      x0 += keys[injection % 3];
      x1 += keys[(injection + 1) % 3] + injection;
    }
    return {x0, x1};
  }
};
// Of key and counter zero, from the test vectors of Random123.
static_assert(Threefry::encrypt(0, 0, 0, 0) == std::pair<uint32_t, uint32_t>{0x6b200159, 0x99ba4efe});

struct RandomBits32 : Elementwise<RandomBits32, 4, set_of(DType::u32)> {
  static constexpr std::string_view name = "random_bits32";
  static constexpr std::string_view doc =
      "random_bits32(k0, k1, hi, lo) = x0 xor x1, where (x0, x1) is Threefry-2x32 (20 rounds) of the counter (hi, lo) "
      "under the key (k0, k1)";
  static constexpr ScalarOp scalar_op = ScalarOp::random_bits32;
  template <class T>
  static T element(T k0, T k1, T hi, T lo) {
    const auto [x0, x1] = Threefry::encrypt(k0, k1, hi, lo);
    return x0 ^ x1;
  }
  using jvp = ZeroDerivative;
};

struct RandomBits64 : Elementwise<RandomBits64, 4, set_of(DType::u32)> {
  static constexpr std::string_view name = "random_bits64";
  static constexpr std::string_view doc =
      "random_bits64(k0, k1, hi, lo) = x0 * 2^32 + x1 of u64, where (x0, x1) is Threefry-2x32 (20 rounds) of the "
      "counter (hi, lo) under the key (k0, k1)";
  static constexpr ScalarOp scalar_op = ScalarOp::random_bits64;
  static constexpr DType result_dtype(DType) { return DType::u64; }
  template <class T>
  static uint64_t element(T k0, T k1, T hi, T lo) {
    const auto [x0, x1] = Threefry::encrypt(k0, k1, hi, lo);
    return uint64_t{x0} << 32 | x1;
  }
  using jvp = ZeroDerivative;
};

using RandomBitsList = TypeList<RandomBits32, RandomBits64>;

}  // namespace calque::primitives
