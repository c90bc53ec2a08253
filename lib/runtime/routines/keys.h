#pragma once
// Vectors of keys: which of many elements come before a bound, networks that sort many short rows, and a quicksort of
// long ones. Compiled once for each level of instruction sets by the sources of dense.h.
#include <cstdint>

namespace calque::runtime {

/// What turns the bits of elements into signed integers in their order: the bits of infinity of floats, and of
/// integers those that are flipped, none or the highest.
struct ScanBound {
  int64_t key, special;
};

/// Elements are tested in blocks of as many.
inline constexpr int64_t kScanBlock = 64;

/// The signed integer in whose order the elements are: zeros are one number, NaNs the greatest. Inlined always, since
/// the levels may not share its code.
template <bool IsFloat, class S>
[[gnu::always_inline]] inline S scan_key(S bits, S special) {
  if constexpr (IsFloat) {
    constexpr S kGreatest = static_cast<S>(static_cast<uint64_t>(-1) >> (65 - 8 * sizeof(S)));
    const S magnitude = static_cast<S>(bits & kGreatest);
    // Integers, as the sign of a zero, denormals and NaNs are then the same in every mode of the processor.
    const S number = bits < 0 ? static_cast<S>(-magnitude) : magnitude;
    return magnitude > special ? kGreatest : number;
  } else {
    return static_cast<S>(bits ^ special);
  }
}

/// The bits of an element other than NaN and -0 by its integer.
template <bool IsFloat, class S>
[[gnu::always_inline]] inline S scan_bits(S key, S special) {
  if constexpr (IsFloat) {
    constexpr S kGreatest = static_cast<S>(static_cast<uint64_t>(-1) >> (65 - 8 * sizeof(S)));
    return key < 0 ? static_cast<S>(static_cast<S>(-key) | ~kGreatest) : key;
  } else {
    return static_cast<S>(key ^ special);
  }
}

/// A part of a row that is sorted by itself: integers in the order of its elements, in the memory of the sorted ones,
/// `to`, or in a space of the same size. Dividing lowers its depth.
struct KeyPart {
  void* to;
  void* space;
  int64_t n;
  bool in_space;
  int depth;
};

/// What maps elements to integers, which are complements if the order is descending, and what sorts a part of depth 0.
struct KeyOrder {
  int64_t special;  // of ScanBound
  bool descending;
  void (*sort_deep)(const KeyPart& part, const KeyOrder& order);
};

/// The pivot of a part is the median of some of its vectors, which is near the middle of sorted parts, too. Inlined
/// always, as scan_key().
[[gnu::always_inline]] inline int64_t sampled_vectors(int64_t n, int64_t lanes) {
  return n < 64 * lanes ? 2 : n < 512 * lanes ? 4 : 8;
}
[[gnu::always_inline]] inline int64_t sampled_at(int64_t n, int64_t vector, int64_t vectors, int64_t lanes) {
  return (vector + 1) * (n - lanes) / (vectors + 1);
}

/// Sorts of rows that keep no order of equal integers, null on levels without them. The elements of `row` are those of
/// the part if it is not null.
struct KeyQuicksort {
  void (*sort)(const void* row, const KeyPart& part, const KeyOrder& order);
  /// Of more than 16 vectors: all of the first part before all of the second one, which is in the space.
  void (*divide)(const void* row, const KeyPart& part, const KeyOrder& order, KeyPart& first, KeyPart& second);
  int64_t lanes;
};

/// Rows of at most as many elements are sorted by networks.
inline constexpr int64_t kNetworkRow = 64;

struct RowsOfKeys {
  const void* keys;
  int64_t count, n, limit;
  const uint8_t* pairs;
  int64_t num_pairs;
  int64_t special;  // of ScanBound
  bool descending;
};

struct KeyRoutines {
  /// From `begin` on, where the first block starts in which an element is before the bound, and a flag of 1 for each
  /// of the block's elements that is; or where fewer elements than a block are left before `end`.
  using Find = int64_t (*)(const void* keys, int64_t begin, int64_t end, const ScanBound& bound, uint8_t* flags);
  /// Sorts `count` rows of n elements, at most kNetworkRow, by a network: pairs of numbers of elements, of which the
  /// first is to be the lesser. Writes the first `limit` of each, their numbers, or both; equal elements keep their
  /// order. The descending order is that of the complements.
  using Network = void (*)(const RowsOfKeys& rows, void* values, int32_t* indices);
  /// By the logarithm of an element's bytes, and whether the order is descending.
  Find find_integers[4][2], find_floats[4][2];
  /// By the logarithm of an element's bytes.
  Network sort_integers[4], sort_floats[4];
  KeyQuicksort quick_integers[4], quick_floats[4];
  /// Writes the elements [begin, end) of a row as unsigned integers in their order, each above its number in one of 64
  /// bits. Returns the bits of the integers in which one is unlike the row's first. Null for elements of 64 bits.
  using Number = uint32_t (*)(const void* keys, int64_t begin, int64_t end, int64_t special, bool descending,
                              uint64_t* to);
  Number number_integers[4], number_floats[4];
};

/// Those for the processor on which programs run (CALQUE_CPU included).
const KeyRoutines& key_routines();

}  // namespace calque::runtime
