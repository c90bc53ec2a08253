// The routines of one level: included by the source file of each, with CALQUE_LEVEL defined as its name.
#include <type_traits>

#include "runtime/routines/keys.h"
#include "runtime/routines/quicksort_level.h"
#include "runtime/routines/vectors_level.h"

namespace calque::runtime::CALQUE_LEVEL {
namespace {

template <class S, bool IsFloat, bool Descending>
int64_t find_block(const void* keys, int64_t begin, int64_t end, const ScanBound& bound, uint8_t* flags) {
  const S key = static_cast<S>(bound.key), special = static_cast<S>(bound.special);
  const auto passes = [&](S bits) {
    const S own = scan_key<IsFloat>(bits, special);
    return Descending ? own > key : own < key;
  };
  int64_t i = begin;
  for (; end - i >= kScanBlock; i += kScanBlock) {
    const S* const block = static_cast<const S*>(keys) + i;
    S any = 0;
    for (int64_t j = 0; j < kScanBlock; ++j) any = static_cast<S>(any | (passes(block[j]) ? S(-1) : S(0)));
    if (any == 0) continue;
    for (int64_t j = 0; j < kScanBlock; ++j) flags[j] = passes(block[j]) ? 1 : 0;
    break;
  }
  return i;
}

/// The greater of two numbers behind the lesser one, in each lane.
template <int64_t kLanes, class S>
[[gnu::always_inline]] inline void exchange(S* a, S* b) {
  using V [[gnu::vector_size(kVectorBytes), gnu::may_alias]] = S;
  each<static_cast<int>(kLanes * sizeof(S) / kVectorBytes)>([&](auto i) __attribute__((always_inline)) {
    V& first = reinterpret_cast<V*>(a)[i];
    V& second = reinterpret_cast<V*>(b)[i];
    const V x = first, y = second;
    first = x < y ? x : y;
    second = x < y ? y : x;
  });
}

/// The same by two numbers, of which the second ones differ.
template <int64_t kLanes, class S>
[[gnu::always_inline]] inline void exchange(S* a, S* a_next, S* b, S* b_next) {
  using V [[gnu::vector_size(kVectorBytes), gnu::may_alias]] = S;
  each<static_cast<int>(kLanes * sizeof(S) / kVectorBytes)>([&](auto i) __attribute__((always_inline)) {
    const auto at = [&](S* s) -> V& { return reinterpret_cast<V*>(s)[i]; };
    const V x = at(a), y = at(b), p = at(a_next), q = at(b_next);
    const V stays = (x < y) | ((x == y) & (p < q));
    at(a) = stays ? x : y;
    at(b) = stays ? y : x;
    at(a_next) = stays ? p : q;
    at(b_next) = stays ? q : p;
  });
}

/// From rows of n elements to lanes, of which there are kLanes for each element; at most `left` elements are read.
template <int64_t kLanes, class S>
void rows_to_lanes(const S* from, int64_t rows, int64_t n, int64_t left, S* to) {
  using Tile = Square<S>;
  constexpr int64_t kSize = Tile::kSize;
  // The last square of a row begins where it ends with the row; one of a shorter row also reads the next ones.
  if (rows < kLanes || left < (kLanes - 1) * n + kSize) {
    for (int64_t l = 0; l < rows; ++l)
      for (int64_t i = 0; i < n; ++i) to[i * kLanes + l] = from[l * n + i];
    return;
  }
  const S* const end = to + kNetworkRow * kLanes;
  for (int64_t l = 0; l < kLanes; l += kSize) {
    for (int64_t i = 0;;) {
      Tile::transpose(from + l * n + i, n, to + i * kLanes + l, kLanes, kSize, end);
      if (i + kSize >= n) break;
      i = i + 2 * kSize <= n ? i + kSize : n - kSize;
    }
  }
}

/// From lanes to rows of n elements.
template <int64_t kLanes, class S>
void lanes_to_rows(const S* from, int64_t rows, int64_t n, S* to) {
  using Tile = Square<S>;
  constexpr int64_t kSize = Tile::kSize;
  if (rows < kLanes) {
    for (int64_t l = 0; l < rows; ++l)
      for (int64_t i = 0; i < n; ++i) to[l * n + i] = from[i * kLanes + l];
    return;
  }
  // What is written behind a short row is the next one's.
  const S* const end = to + kLanes * n;
  for (int64_t l = 0; l < kLanes; l += kSize) {
    for (int64_t i = 0;;) {
      Tile::transpose(from + i * kLanes + l, kLanes, to + l * n + i, n, n, end);
      if (i + kSize >= n) break;
      i = i + 2 * kSize <= n ? i + kSize : n - kSize;
    }
  }
}

template <class V>
bool is_any(const V& v) {
  uint64_t words[(sizeof(V) + 7) / 8] = {}, any = 0;
  std::memcpy(words, &v, sizeof(V));
  for (const uint64_t w : words) any |= w;
  return any != 0;
}

/// Sorts rows across lanes. What is sorted are keys; with indices, keys above the number of their element in one
/// integer, or next to it if they have 64 bits.
template <class S, bool IsFloat, bool HasIndices>
void sort_rows(const RowsOfKeys& rows, S* values, int32_t* indices) {
  constexpr bool kBeside = HasIndices && sizeof(S) == 8;
  using Number = std::conditional_t<HasIndices, int64_t, S>;
  constexpr int64_t kLanes = 128 / sizeof(Number);
  const int64_t n = rows.n, limit = rows.limit;
  // Vectors of the elements as they are.
  constexpr size_t kBytes = kLanes * sizeof(S) < kVectorBytes ? kLanes * sizeof(S) : kVectorBytes;
  constexpr int64_t kWidth = kBytes / sizeof(S);
  using InOrder = VectorOrder<S, IsFloat, kBytes>;
  using V = typename InOrder::V;
  const InOrder order(rows.special, rows.descending);
  alignas(64) S bits[kNetworkRow * kLanes];
  alignas(64) Number keys[kNetworkRow * kLanes];
  alignas(64) Number numbers[kBeside ? kNetworkRow * kLanes : 1];
  alignas(64) int32_t found[HasIndices ? kNetworkRow * kLanes : 1];
  for (int64_t i = 0; i < n * kLanes; ++i) bits[i] = 0;
  for (int64_t first = 0; first < rows.count; first += kLanes) {
    const int64_t lanes = rows.count - first < kLanes ? rows.count - first : kLanes;
    const S* const from = static_cast<const S*>(rows.keys) + first * n;
    rows_to_lanes<kLanes>(from, lanes, n, (rows.count - first) * n, bits);
    V unlike{};  // lanes where an element is not the one of its key's bits
    for (int64_t i = 0; i < n * kLanes; i += kWidth) {
      V own;
      std::memcpy(&own, bits + i, sizeof(V));
      const V key = order.key(own);
      if constexpr (IsFloat && !HasIndices) unlike |= order.bits(key) ^ own;
      if constexpr (std::is_same_v<Number, S>)
        std::memcpy(keys + i, &key, sizeof(V));
      else
        std::memcpy(bits + i, &key, sizeof(V));
    }
    if constexpr (HasIndices) {
      for (int64_t i = 0; i < n; ++i) {
        for (int64_t l = i * kLanes; l < (i + 1) * kLanes; ++l) {
          if constexpr (kBeside)
            numbers[l] = i;
          else
            keys[l] = static_cast<Number>(static_cast<uint64_t>(static_cast<int64_t>(bits[l])) << 32) | i;
        }
      }
    }
    for (int64_t p = 0; p < rows.num_pairs; ++p) {
      const int64_t a = rows.pairs[2 * p] * kLanes, b = rows.pairs[2 * p + 1] * kLanes;
      if constexpr (kBeside)
        exchange<kLanes>(keys + a, numbers + a, keys + b, numbers + b);
      else
        exchange<kLanes>(keys + a, keys + b);
    }
    if constexpr (HasIndices) {
      const Number* const sorted = kBeside ? numbers : keys;
      int32_t* const to = indices + first * limit;
      for (int64_t i = 0; i < limit * kLanes; ++i) found[i] = static_cast<int32_t>(sorted[i] & (kNetworkRow - 1));
      lanes_to_rows<kLanes>(found, lanes, limit, to);
      if (values != nullptr)
        for (int64_t l = 0; l < lanes; ++l)
          for (int64_t i = l * limit; i < (l + 1) * limit; ++i) values[first * limit + i] = from[l * n + to[i]];
    } else {
      for (int64_t i = 0; i < limit * kLanes; i += kWidth) {
        V key;
        std::memcpy(&key, keys + i, sizeof(V));
        key = order.bits(key);
        std::memcpy(bits + i, &key, sizeof(V));
      }
      S* const to = values + first * limit;
      lanes_to_rows<kLanes>(bits, lanes, limit, to);
      if constexpr (IsFloat) {
        if (!is_any(unlike)) continue;
        for (int64_t l = 0; l < lanes; ++l)
          restore_row(from + l * n, n, static_cast<S>(rows.special), to + l * limit, limit);
      }
    }
  }
}

template <class S, bool IsFloat>
void sort_by_network(const RowsOfKeys& rows, void* values, int32_t* indices) {
#if defined(__AVX2__)
  if constexpr (sizeof(S) >= 4)
    if (indices == nullptr && Quicksort<S, IsFloat>::sort_each_row(rows, static_cast<S*>(values))) return;
#endif
  if (indices != nullptr)
    sort_rows<S, IsFloat, true>(rows, static_cast<S*>(values), indices);
  else
    sort_rows<S, IsFloat, false>(rows, static_cast<S*>(values), indices);
}

template <class S, bool IsFloat>
uint32_t number(const void* keys, int64_t begin, int64_t end, int64_t special, bool descending, uint64_t* to) {
  using Bits = std::make_unsigned_t<S>;
  const S* const from = static_cast<const S*>(keys);
  const S own_special = static_cast<S>(special);
  constexpr Bits kSign = static_cast<Bits>(Bits(1) << (8 * sizeof(S) - 1));
  const Bits flip = static_cast<Bits>(descending ? ~kSign : kSign);
  const auto key = [&](S bits) __attribute__((always_inline)) {
    return static_cast<Bits>(static_cast<Bits>(scan_key<IsFloat>(bits, own_special)) ^ flip);
  };
  const Bits first = key(from[0]);
  uint64_t differ = 0;
  for (int64_t i = begin; i < end; ++i) {
    const Bits own = key(from[i]);
    differ |= static_cast<uint64_t>(own ^ first);
    to[i] = static_cast<uint64_t>(own) << 32 | static_cast<uint64_t>(i);
  }
  return static_cast<uint32_t>(differ);
}

}  // namespace

#define CALQUE_FIND(S, IsFloat) {&find_block<S, IsFloat, false>, &find_block<S, IsFloat, true>}
extern const KeyRoutines kKeys = {
    {CALQUE_FIND(int8_t, false), CALQUE_FIND(int16_t, false), CALQUE_FIND(int32_t, false), CALQUE_FIND(int64_t, false)},
    {{nullptr, nullptr}, CALQUE_FIND(int16_t, true), CALQUE_FIND(int32_t, true), CALQUE_FIND(int64_t, true)},
    {&sort_by_network<int8_t, false>, &sort_by_network<int16_t, false>, &sort_by_network<int32_t, false>,
     &sort_by_network<int64_t, false>},
    {nullptr, &sort_by_network<int16_t, true>, &sort_by_network<int32_t, true>, &sort_by_network<int64_t, true>},
    {{}, {}, CALQUE_QUICKSORT(int32_t, false), CALQUE_QUICKSORT(int64_t, false)},
    {{}, {}, CALQUE_QUICKSORT(int32_t, true), CALQUE_QUICKSORT(int64_t, true)},
    {&number<int8_t, false>, &number<int16_t, false>, &number<int32_t, false>, nullptr},
    {nullptr, &number<int16_t, true>, &number<int32_t, true>, nullptr}};
#undef CALQUE_FIND
#undef CALQUE_QUICKSORT

}  // namespace calque::runtime::CALQUE_LEVEL
