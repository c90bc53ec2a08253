// The routines of one level: included by the source file of each, with CALQUE_LEVEL defined as its name.
#include <type_traits>

#include "runtime/routines/keys.h"
#include "runtime/routines/quicksort_level.h"

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
void exchange(S* __restrict a, S* __restrict b) {
  for (int64_t l = 0; l < kLanes; ++l) {
    const S x = a[l], y = b[l];
    a[l] = x < y ? x : y;
    b[l] = x < y ? y : x;
  }
}

/// The same by two numbers, of which the second ones differ.
template <int64_t kLanes, class S>
void exchange(S* __restrict a, S* __restrict a_next, S* __restrict b, S* __restrict b_next) {
  for (int64_t l = 0; l < kLanes; ++l) {
    const S x = a[l], y = b[l], p = a_next[l], q = b_next[l];
    const bool stays = (x < y) | ((x == y) & (p < q));
    a[l] = stays ? x : y;
    b[l] = stays ? y : x;
    a_next[l] = stays ? p : q;
    b_next[l] = stays ? q : p;
  }
}

/// Sorts rows across lanes. What is sorted are keys; with indices, keys above the number of their element in one
/// integer, or next to it if they have 64 bits.
template <class S, bool IsFloat, bool HasIndices>
void sort_rows(const RowsOfKeys& rows, S* values, int32_t* indices) {
  constexpr bool kBeside = HasIndices && sizeof(S) == 8;
  using Number = std::conditional_t<HasIndices, int64_t, S>;
  constexpr int64_t kLanes = 128 / sizeof(Number);
  constexpr S kGreatest = static_cast<S>(static_cast<uint64_t>(-1) >> (65 - 8 * sizeof(S)));
  constexpr S kShared[] = {S(0), kGreatest};  // keys of several numbers
  const int64_t n = rows.n, limit = rows.limit;
  const S special = static_cast<S>(rows.special), flip = rows.descending ? S(-1) : S(0);
  alignas(64) S bits[kNetworkRow * kLanes];
  alignas(64) Number keys[kNetworkRow * kLanes];
  alignas(64) Number numbers[kBeside ? kNetworkRow * kLanes : 1];
  for (int64_t i = 0; i < n * kLanes; ++i) bits[i] = 0;
  for (int64_t first = 0; first < rows.count; first += kLanes) {
    const int64_t lanes = rows.count - first < kLanes ? rows.count - first : kLanes;
    const S* const from = static_cast<const S*>(rows.keys) + first * n;
    for (int64_t l = 0; l < lanes; ++l)
      for (int64_t i = 0; i < n; ++i) bits[i * kLanes + l] = from[l * n + i];
    S unlike = 0;  // whether an element is not the one of its key's bits
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t l = 0; l < kLanes; ++l) {
        const S own = bits[i * kLanes + l];
        const S key = scan_key<IsFloat>(own, special);
        const S ordered = static_cast<S>(key ^ flip);
        if constexpr (IsFloat && !HasIndices)
          unlike = static_cast<S>(unlike | ((key == kGreatest) | ((key == 0) & (own != 0)) ? S(-1) : S(0)));
        if constexpr (HasIndices && !kBeside)
          keys[i * kLanes + l] = static_cast<Number>(static_cast<uint64_t>(static_cast<int64_t>(ordered)) << 32) | i;
        else
          keys[i * kLanes + l] = ordered;
        if constexpr (kBeside) numbers[i * kLanes + l] = i;
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
      const Number* const order = kBeside ? numbers : keys;
      for (int64_t l = 0; l < lanes; ++l) {
        for (int64_t i = 0; i < limit; ++i) {
          const auto index = static_cast<int32_t>(order[i * kLanes + l] & (kNetworkRow - 1));
          const int64_t to = (first + l) * limit + i;
          if (indices != nullptr) indices[to] = index;
          if (values != nullptr) values[to] = from[l * n + index];
        }
      }
    } else {
      for (int64_t i = 0; i < limit * kLanes; ++i) {
        const S key = static_cast<S>(keys[i] ^ flip);
        bits[i] = scan_bits<IsFloat>(key, special);
      }
      S* const to = values + first * limit;
      for (int64_t l = 0; l < lanes; ++l)
        for (int64_t i = 0; i < limit; ++i) to[l * limit + i] = bits[i * kLanes + l];
      if (!IsFloat || unlike == 0) continue;
      // Zeros of both signs, and NaNs, are one key: those of a row follow each other as they do there.
      for (int64_t l = 0; l < lanes; ++l) {
        for (const S key : kShared) {
          int64_t i = 0;
          while (i < limit && keys[i * kLanes + l] != static_cast<S>(key ^ flip)) ++i;
          for (int64_t j = 0; j < n && i < limit; ++j)
            if (scan_key<IsFloat>(from[l * n + j], special) == key) to[l * limit + i++] = from[l * n + j];
        }
      }
    }
  }
}

template <class S, bool IsFloat>
void sort_by_network(const RowsOfKeys& rows, void* values, int32_t* indices) {
  if (indices != nullptr)
    sort_rows<S, IsFloat, true>(rows, static_cast<S*>(values), indices);
  else
    sort_rows<S, IsFloat, false>(rows, static_cast<S*>(values), indices);
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
    {{}, {}, CALQUE_QUICKSORT(int32_t, true), CALQUE_QUICKSORT(int64_t, true)}};
#undef CALQUE_FIND
#undef CALQUE_QUICKSORT

}  // namespace calque::runtime::CALQUE_LEVEL
