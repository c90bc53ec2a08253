#pragma once
// The scan of a selection of the first elements in order: which of many elements come before a bound. Compiled once for
// each level of instruction sets by the sources of dense.h.
#include <cstdint>

namespace calque::runtime {

/// What the bits of elements are compared with. `special` are the bits of infinity of floats, and of integers those
/// that turn theirs into signed ones: none or the highest.
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

struct KeyScans {
  /// From `begin` on, where the first block starts in which an element is before the bound, and a flag of 1 for each
  /// of the block's elements that is; or where fewer elements than a block are left before `end`.
  using Find = int64_t (*)(const void* keys, int64_t begin, int64_t end, const ScanBound& bound, uint8_t* flags);
  /// By the logarithm of an element's bytes, and whether the order is descending.
  Find integers[4][2], floats[4][2];
};

/// Those for the processor on which programs run (CALQUE_CPU included).
const KeyScans& key_scans();

}  // namespace calque::runtime
