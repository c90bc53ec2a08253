// Shuffles of vectors for one level of instruction sets: included by keys_level.h and quicksort_level.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "runtime/routines/keys.h"

namespace calque::runtime::CALQUE_LEVEL {
namespace {

#if defined(__AVX512F__)
constexpr size_t kVectorBytes = 64;
#elif defined(__AVX2__)
constexpr size_t kVectorBytes = 32;
#else
constexpr size_t kVectorBytes = 16;
#endif

/// Runs work(0), ..., work(Count - 1) with numbers known to the compiler: arrays of vectors then are registers.
template <class Work, size_t... I>
[[gnu::always_inline]] inline void each_of(const Work& work, std::index_sequence<I...>) {
  (work(std::integral_constant<int, static_cast<int>(I)>()), ...);
}
template <int Count, class Work>
[[gnu::always_inline]] inline void each(const Work& work) {
  each_of(work, std::make_index_sequence<Count>());
}

/// The lanes of a and b in turn: the lower halves or the upper ones.
template <bool Upper, class V, size_t... I>
[[gnu::always_inline]] inline V zip_lanes(V a, V b, std::index_sequence<I...>) {
  constexpr size_t kLanes = sizeof...(I), kFirst = Upper ? kLanes / 2 : 0;
  return __builtin_shufflevector(a, b, static_cast<int>(kFirst + I / 2 + I % 2 * kLanes)...);
}

/// A matrix of `Rows` vectors, whose elements are numbered row by row: rotates the bits of their numbers once for each
/// factor 2 of `Times`. With as many as `Rows`, columns follow each other.
template <int Lanes, int Rows, int Times, class V>
[[gnu::always_inline]] inline void rotate_numbers(V* v) {
  if constexpr (Times > 1) {
    using All = std::make_index_sequence<Lanes>;
    V to[Rows];
    each<Rows / 2>([&](auto r) __attribute__((always_inline)) {
      to[2 * r] = zip_lanes<false>(v[r], v[r + Rows / 2], All());
      to[2 * r + 1] = zip_lanes<true>(v[r], v[r + Rows / 2], All());
    });
    each<Rows>([&](auto r) __attribute__((always_inline)) { v[r] = to[r]; });
    rotate_numbers<Lanes, Rows, Times / 2>(v);
  }
}

/// Of all lanes, what scan_key() and scan_bits() are of one, and the complement if the order is descending.
template <class S, bool IsFloat, size_t Bytes>
struct VectorOrder {
  using V [[gnu::vector_size(Bytes)]] = S;
  static constexpr S kGreatest = static_cast<S>(static_cast<uint64_t>(-1) >> (65 - 8 * sizeof(S)));
  static constexpr S kShift = 8 * sizeof(S) - 1;
  V special, flip;
  V last;  // elements that no other comes after
  VectorOrder(int64_t of_special, bool descending) {
    const S own_special = static_cast<S>(of_special), own_flip = static_cast<S>(descending ? -1 : 0);
    special = V{} + own_special;
    flip = V{} + own_flip;
    last = IsFloat && descending ? special | static_cast<S>(~kGreatest) : bits(V{} + kGreatest);
  }
  [[gnu::always_inline]] V key(V bits) const {
    if constexpr (!IsFloat) return bits ^ special ^ flip;
    const V magnitude = bits & kGreatest, sign = bits >> kShift;
    const V number = (magnitude ^ sign) - sign, is_nan = magnitude > special;
    return ((number & ~is_nan) | (is_nan & kGreatest)) ^ flip;
  }
  [[gnu::always_inline]] V bits(V key) const {
    if constexpr (!IsFloat) return key ^ special ^ flip;
    const V number = key ^ flip, sign = number >> kShift;
    return ((number ^ sign) - sign) | (sign & static_cast<S>(~kGreatest));
  }
};

/// The same order of elements that are neither NaN nor -0, with fewer instructions.
template <class S, bool IsFloat, size_t Bytes>
struct OrderOfNumbers : VectorOrder<S, IsFloat, Bytes> {
  using Base = VectorOrder<S, IsFloat, Bytes>;
  using V = typename Base::V;
  explicit OrderOfNumbers(const Base& order) : Base(order) {}
  [[gnu::always_inline]] V key(V bits) const {
    if constexpr (!IsFloat) return Base::key(bits);
    return bits ^ ((bits >> Base::kShift) & Base::kGreatest) ^ Base::flip;
  }
  [[gnu::always_inline]] V bits(V key) const {
    if constexpr (!IsFloat) return Base::bits(key);
    const V number = key ^ Base::flip;
    return number ^ ((number >> Base::kShift) & Base::kGreatest);
  }
};

/// Zeros of both signs, and NaNs, are one key: those of a sorted row follow each other as they do in the row.
template <class S>
void restore_row(const S* row, int64_t n, S special, S* sorted, int64_t limit) {
  constexpr S kShared[] = {S(0), VectorOrder<S, true, 16>::kGreatest};  // keys of several numbers
  for (const S key : kShared) {
    int64_t i = 0;
    while (i < limit && scan_key<true>(sorted[i], special) != key) ++i;
    for (int64_t j = 0; j < n && i < limit; ++j)
      if (scan_key<true>(row[j], special) == key) sorted[i++] = row[j];
  }
}

/// Squares of as many elements as a vector has.
template <class S>
struct Square {
  static constexpr int64_t kSize = kVectorBytes / sizeof(S) < 16 ? kVectorBytes / sizeof(S) : 16;
  using V [[gnu::vector_size(kSize * sizeof(S))]] = S;

  using Unaligned [[gnu::vector_size(kSize * sizeof(S)), gnu::aligned(sizeof(S)), gnu::may_alias]] = S;

  /// The transpose of a square at `from`; of the rows it writes, the first `count` elements where a row of the square
  /// would not end before `end`.
  [[gnu::always_inline]] static void transpose(const S* from, int64_t from_stride, S* to, int64_t to_stride,
                                               int64_t count, const S* end) {
    V v[kSize];
    each<kSize>([&](auto r) __attribute__((always_inline)) {
      v[r] = *reinterpret_cast<const Unaligned*>(from + r * from_stride);
    });
    rotate_numbers<kSize, kSize, kSize>(v);
    if (to + (kSize - 1) * to_stride + kSize <= end) {
      each<kSize>([&](auto r)
                      __attribute__((always_inline)) { *reinterpret_cast<Unaligned*>(to + r * to_stride) = v[r]; });
    } else {
      alignas(64) S own[kSize * kSize];
      each<kSize>([&](auto r) __attribute__((always_inline)) { *reinterpret_cast<V*>(own + r * kSize) = v[r]; });
      for (int64_t r = 0; r < kSize; ++r)
        for (int64_t i = 0; i < count; ++i) to[r * to_stride + i] = own[r * kSize + i];
    }
  }
};

}  // namespace
}  // namespace calque::runtime::CALQUE_LEVEL
