// Quicksort of keys by vectors, for one level of instruction sets: included by keys_level.h.
//
// A part of a row is divided by copies: the keys before the pivot go to where the sorted ones will be, the others to
// a space of the same size, and one of both is where the keys were. No write passes the keys that are still to be read,
// and none the end of a part, so whole vectors are written, of which the lanes behind the compressed ones do not count.
// Short parts are sorted in registers.
#if defined(__AVX2__)
#include <utility>

#include <immintrin.h>

#include "runtime/routines/keys.h"
#include "runtime/routines/vectors_level.h"

namespace calque::runtime::CALQUE_LEVEL {
namespace {

// Below, V is a vector of keys and Mask a bit for each lane. compress() moves the lanes of a mask to the front, into a
// register: its form that writes memory is microcoded on some processors.
template <class S>
struct Lanes;

#if defined(__AVX512F__)
#define CALQUE_LANES(S, Count, Name, Float)                                                                         \
  template <>                                                                                                       \
  struct Lanes<S> {                                                                                                 \
    using V [[gnu::vector_size(64)]] = S;                                                                           \
    using Mask = __mmask##Count;                                                                                    \
    static constexpr int kLanes = Count;                                                                            \
    static constexpr int kRows = 16;                                                                                \
    static Mask first(int64_t n) { return static_cast<Mask>((1U << n) - 1); }                                       \
    static Mask less(V a, V b) { return _mm512_cmplt_##Name##_mask((__m512i)a, (__m512i)b); }                       \
    static Mask not_less(V a, V b) { return _mm512_cmpge_##Name##_mask((__m512i)a, (__m512i)b); }                   \
    static V compress(Mask m, V v) { return (V)_mm512_maskz_compress_##Name(m, (__m512i)v); }                       \
    static V load(const S* from) { return (V)_mm512_loadu_si512(from); }                                            \
    static V load(const S* from, Mask m, V other) { return (V)_mm512_mask_loadu_##Name((__m512i)other, m, from); }  \
    static void store(S* to, V v) { _mm512_storeu_si512(to, (__m512i)v); }                                          \
    static void store(S* to, Mask m, V v) { _mm512_mask_storeu_##Name(to, m, (__m512i)v); }                         \
    static V min(V a, V b) { return (V)_mm512_mask_min_##Name((__m512i)a, first(kLanes), (__m512i)a, (__m512i)b); } \
    static V max(V a, V b) { return (V)_mm512_mask_max_##Name((__m512i)a, first(kLanes), (__m512i)a, (__m512i)b); } \
    /** Those that are NaN, quiet or not, or -0. */                                                                 \
    static Mask special(V v, V /*infinity*/) {                                                                      \
      return _mm512_fpclass_##Float##_mask(_mm512_castsi512_##Float((__m512i)v), 0x85);                             \
    }                                                                                                               \
    /** The greater of two numbers in the lanes of a mask, the lesser in the others. */                             \
    template <unsigned Greater>                                                                                     \
    static V order(V a, V b) {                                                                                      \
      return (V)_mm512_mask_max_##Name((__m512i)min(a, b), Greater, (__m512i)a, (__m512i)b);                        \
    }                                                                                                               \
  };
CALQUE_LANES(int32_t, 16, epi32, ps)
CALQUE_LANES(int64_t, 8, epi64, pd)
#undef CALQUE_LANES

#else

/// For each mask, the numbers of the 32-bit lanes that belong to it; those of a lane of 64 bits are two.
template <int Lanes>
struct Compressions {
  static constexpr int kWords = 8 / Lanes;
  alignas(8) uint8_t from[1 << Lanes][8] = {};
  constexpr Compressions() {
    for (int m = 0; m < 1 << Lanes; ++m) {
      int next = 0;
      for (int l = 0; l < Lanes; ++l)
        if ((m >> l & 1) != 0)
          for (int w = 0; w < kWords; ++w) from[m][next++] = static_cast<uint8_t>(kWords * l + w);
    }
  }
};
template <int Lanes>
constexpr Compressions<Lanes> kCompressions;

template <class S>
struct Lanes {
  using V [[gnu::vector_size(32)]] = S;
  using Mask = unsigned;
  static constexpr int kLanes = 32 / sizeof(S);
  static constexpr int kRows = 8;
  static constexpr bool kShort = sizeof(S) == 4;
  static Mask first(int64_t n) { return (1U << n) - 1; }
  static Mask bits(V v) {
    if constexpr (kShort)
      return static_cast<Mask>(_mm256_movemask_ps((__m256)v));
    else
      return static_cast<Mask>(_mm256_movemask_pd((__m256d)v));
  }
  static V of_bits(Mask m) {
    V own{};
    for (int l = 0; l < kLanes; ++l) own[l] = S(1) << l;
    return (own & (V{} + static_cast<S>(m))) == own;
  }
  static Mask less(V a, V b) { return bits(a < b); }
  static Mask not_less(V a, V b) { return bits(a >= b); }
  static Mask special(V v, V infinity) {
    constexpr S kGreatest = static_cast<S>(static_cast<uint64_t>(-1) >> (65 - 8 * sizeof(S)));
    return bits(((v & kGreatest) > infinity) | (v == static_cast<S>(~kGreatest)));
  }
  static V compress(Mask m, V v) {
    const __m128i from = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(kCompressions<kLanes>.from[m]));
    return (V)_mm256_permutevar8x32_epi32((__m256i)v, _mm256_cvtepu8_epi32(from));
  }
  static V load(const S* from) { return (V)_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)); }
  static V load(const S* from, Mask m, V other) {
    const V of = of_bits(m);
    V v;
    if constexpr (kShort)
      v = (V)_mm256_maskload_epi32(from, (__m256i)of);
    else
      v = (V)_mm256_maskload_epi64(reinterpret_cast<const long long*>(from), (__m256i)of);
    return of ? v : other;
  }
  static void store(S* to, V v) { _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), (__m256i)v); }
  static void store(S* to, Mask m, V v) {
    if constexpr (kShort)
      _mm256_maskstore_epi32(to, (__m256i)of_bits(m), (__m256i)v);
    else
      _mm256_maskstore_epi64(reinterpret_cast<long long*>(to), (__m256i)of_bits(m), (__m256i)v);
  }
  static V min(V a, V b) {
    if constexpr (kShort)
      return (V)_mm256_min_epi32((__m256i)a, (__m256i)b);
    else
      return (V)_mm256_blendv_epi8((__m256i)a, (__m256i)b, (__m256i)(a > b));
  }
  static V max(V a, V b) {
    if constexpr (kShort)
      return (V)_mm256_max_epi32((__m256i)a, (__m256i)b);
    else
      return (V)_mm256_blendv_epi8((__m256i)b, (__m256i)a, (__m256i)(a > b));
  }
  template <unsigned Greater>
  static V order(V a, V b) {
    constexpr int kWords = static_cast<int>(
        kShort ? Greater : 3 * ((Greater & 1) | (Greater & 2) << 1 | (Greater & 4) << 2 | (Greater & 8) << 3));
    return (V)_mm256_blend_epi32((__m256i)min(a, b), (__m256i)max(a, b), kWords);
  }
};
#endif

/// The pairs of a network that sorts `Count` elements, a power of two: Batcher's merge exchange (Knuth, 5.2.2, M).
template <int Count>
struct Network {
  int size = 0;
  uint8_t a[Count * Count] = {}, b[Count * Count] = {};
  constexpr Network() {
    for (int p = Count / 2; p > 0; p /= 2) {
      for (int q = Count / 2, r = 0, d = p;; d = q - p, q /= 2, r = p) {
        for (int i = 0; i + d < Count; ++i) {
          if ((i & p) != r) continue;
          a[size] = static_cast<uint8_t>(i);
          b[size++] = static_cast<uint8_t>(i + d);
        }
        if (q == p) break;
      }
    }
  }
};
template <int Count>
constexpr Network<Count> kNetwork;

#define CALQUE_INLINE [[gnu::always_inline]] static

template <class S, bool IsFloat>
struct Quicksort {
  using L = Lanes<S>;
  using V = typename L::V;
  using Mask = typename L::Mask;
  using AllLanes = std::make_index_sequence<L::kLanes>;
  static constexpr int kLanes = L::kLanes, kRows = L::kRows;
  static constexpr int64_t kMostShort = kLanes * kRows;
  static constexpr S kGreatest = static_cast<S>(static_cast<uint64_t>(-1) >> (65 - 8 * sizeof(S)));

  using Order = VectorOrder<S, IsFloat, sizeof(V)>;

  CALQUE_INLINE void exchange(V& a, V& b) {
    const V x = a, y = b;
    a = L::min(x, y);
    b = L::max(x, y);
  }
  /// The lanes whose numbers differ in the bits of X are exchanged.
  template <int X, size_t... I>
  CALQUE_INLINE V swap(V v, std::index_sequence<I...>) {
    return __builtin_shufflevector(v, v, (static_cast<int>(I) ^ X)...);
  }
  template <int X>
  CALQUE_INLINE V swap(V v) {
    return swap<X>(v, AllLanes());
  }
  /// The greater of two numbers in lanes with a bit of their number, the lesser in the others.
  template <int Bit, size_t... I>
  CALQUE_INLINE V order(V a, V b, std::index_sequence<I...>) {
    return L::template order<((((I & Bit) != 0 ? 1U : 0U) << I) | ...)>(a, b);
  }
  template <int Bit>
  CALQUE_INLINE V order(V a, V b) {
    return order<Bit>(a, b, AllLanes());
  }
  /// Merges groups of `Columns` columns of `Rows` vectors, each sorted column by column, to groups of twice as many.
  template <int Rows, int Columns>
  CALQUE_INLINE void merge(V* v) {
    // Bitonic (Batcher 1968): the second of two groups is read in reverse.
    each<(Rows + 1) / 2>([&](auto r) __attribute__((always_inline)) {
      constexpr int kMirror = Rows - 1 - r;
      const V a = v[r], b = v[kMirror];
      v[r] = order<Columns>(a, swap<2 * Columns - 1>(b));
      if constexpr (kMirror != r) v[kMirror] = order<Columns>(b, swap<2 * Columns - 1>(a));
    });
    halve_columns<Rows, Columns / 2>(v);
    halve_rows<Rows, Rows / 2>(v);
    if constexpr (2 * Columns < kLanes) merge<Rows, 2 * Columns>(v);
  }
  template <int Rows, int Distance>
  CALQUE_INLINE void halve_columns(V* v) {
    if constexpr (Distance > 0) {
      each<Rows>([&](auto r) __attribute__((always_inline)) { v[r] = order<Distance>(v[r], swap<Distance>(v[r])); });
      halve_columns<Rows, Distance / 2>(v);
    }
  }
  template <int Rows, int Distance>
  CALQUE_INLINE void halve_rows(V* v) {
    if constexpr (Distance > 0) {
      each<Rows>([&](auto r) __attribute__((always_inline)) {
        if constexpr ((r & Distance) == 0) exchange(v[r], v[r + Distance]);
      });
      halve_rows<Rows, Distance / 2>(v);
    }
  }
  template <int Rows>
  CALQUE_INLINE void sort_vectors(V* v) {
    each<kNetwork<Rows>.size>(
        [&](auto i) __attribute__((always_inline)) { exchange(v[kNetwork<Rows>.a[i]], v[kNetwork<Rows>.b[i]]); });
    merge<Rows, 1>(v);
    rotate_numbers<kLanes, Rows, Rows>(v);  // from column by column to row by row
  }

  /// Sorts n keys, or elements, in registers, and writes the first `limit` elements. Of elements, returns whether one
  /// is NaN or -0 if they are floats.
  template <bool FromRow, int Rows, class OrderOfRow>
  CALQUE_INLINE bool sort_in_registers(const S* from, S* to, int64_t n, int64_t limit, const OrderOfRow& order) {
    const auto lanes = [](int64_t count, int r) __attribute__((always_inline)) {
      const int64_t left = count - r * kLanes;
      return L::first(left < 0 ? 0 : left > kLanes ? kLanes : left);
    };
    V v[Rows];
    Mask special = 0;
    each<Rows>([&](auto r) __attribute__((always_inline)) {
      const S* const at = from + r * kLanes;
      // More than half of the vectors are whole. Rows follow each other that all are as long, so a branch is foreseen,
      // and accesses without masks do not wait for each other.
      if (r < Rows / 2 || (FromRow && (r + 1) * kLanes <= n)) {
        v[r] = L::load(at);
        if constexpr (FromRow && IsFloat) special |= L::special(v[r], order.special);
      } else {
        v[r] = L::load(at, lanes(n, r), FromRow ? order.last : V{} + kGreatest);
        if constexpr (FromRow && IsFloat) special |= L::special(v[r], order.special) & lanes(n, r);
      }
      if constexpr (FromRow) v[r] = order.key(v[r]);
    });
    sort_vectors<Rows>(v);
    each<Rows>([&](auto r) __attribute__((always_inline)) {
      if (FromRow && (r + 1) * kLanes <= limit)
        L::store(to + r * kLanes, order.bits(v[r]));
      else
        L::store(to + r * kLanes, lanes(limit, r), order.bits(v[r]));
    });
    return special != 0;
  }
  template <bool FromRow, int Rows>
  [[gnu::noinline]] static void sort_rows(const S* from, S* to, int64_t n, int64_t limit, const Order& order) {
    sort_in_registers<FromRow, Rows>(from, to, n, limit, order);
  }

  /// Sorts rows of so many elements that they fill more than half of as many vectors.
  template <int Rows>
  static void sort_each(const RowsOfKeys& rows, S* values) {
    const Order order(rows.special, rows.descending);
    const OrderOfNumbers<S, IsFloat, sizeof(V)> order_of_numbers(order);
    const S* from = static_cast<const S*>(rows.keys);
    const int64_t n = rows.n, limit = rows.limit;
    for (int64_t row = 0; row < rows.count; ++row, from += n, values += limit) {
      if (!sort_in_registers<true, Rows>(from, values, n, limit, order_of_numbers)) continue;
      sort_rows<true, Rows>(from, values, n, limit, order);
      restore_row(from, n, static_cast<S>(rows.special), values, limit);
    }
  }
  /// False for rows that are sorted faster across lanes: those that leave many lanes empty, and the shortest ones.
  static bool sort_each_row(const RowsOfKeys& rows, S* values) {
    const auto fill = [&](int vectors) {
      return rows.n <= vectors * kLanes && 4 * rows.n > 3 * vectors * kLanes && rows.n > 24;
    };
    if (fill(2))
      sort_each<2>(rows, values);
    else if (fill(4))
      sort_each<4>(rows, values);
    else if (fill(8))
      sort_each<8>(rows, values);
    else
      return false;
    return true;
  }

  template <bool FromRow>
  static void sort_short(const S* from, S* to, int64_t n, const Order& order) {
    if (n > 8 * kLanes) {
      if constexpr (kRows > 8) sort_rows<FromRow, 16>(from, to, n, n, order);
    } else if (n > 4 * kLanes) {
      sort_rows<FromRow, 8>(from, to, n, n, order);
    } else if (n > 2 * kLanes) {
      sort_rows<FromRow, 4>(from, to, n, n, order);
    } else if (n > kLanes) {
      sort_rows<FromRow, 2>(from, to, n, n, order);
    } else if (n > 0) {
      sort_rows<FromRow, 1>(from, to, n, n, order);
    }
  }

  /// The median of some vectors of a part.
  template <bool FromRow, int Rows>
  [[gnu::noinline]] static S median(const S* from, int64_t n, const Order& order) {
    V v[Rows];
    each<Rows>([&](auto r) __attribute__((always_inline)) {
      v[r] = L::load(from + sampled_at(n, r, Rows, kLanes));
      if constexpr (FromRow) v[r] = order.key(v[r]);
    });
    sort_vectors<Rows>(v);
    return v[Rows / 2][0];
  }
  template <bool FromRow>
  static S pivot(const S* from, int64_t n, const Order& order) {
    if (sampled_vectors(n, kLanes) == 2) return median<FromRow, 2>(from, n, order);
    if (sampled_vectors(n, kLanes) == 4) return median<FromRow, 4>(from, n, order);
    return median<FromRow, 8>(from, n, order);
  }

  /// Moves the keys that are less than the pivot, or not greater, to `low` and the others to `high`, one of which may
  /// be where they were. Returns how many are low.
  template <bool FromRow, bool OrEqual>
  [[gnu::noinline]] static int64_t divide(const S* from, S* low, S* high, int64_t n, S pivot, const Order& order) {
    const V bound = V{} + pivot;
    const auto is_low = [&](V v) { return OrEqual ? L::not_less(bound, v) : L::less(v, bound); };
    const auto is_high = [&](V v) { return OrEqual ? L::less(bound, v) : L::not_less(v, bound); };
    int64_t i = 0, lows = 0;
    const auto move = [&](V v) __attribute__((always_inline)) {
      const Mask m = is_low(v);
      L::store(low + lows, L::compress(m, v));
      L::store(high + (i - lows), L::compress(is_high(v), v));
      lows += __builtin_popcount(m);
      i += kLanes;
    };
    const auto move_some = [&](int64_t count) {
      const Mask all = L::first(count);
      V v = L::load(from + i, all, V{});
      if constexpr (FromRow) v = order.key(v);
      const Mask m = is_low(v) & all;
      const int own = __builtin_popcount(m);
      L::store(low + lows, L::first(own), L::compress(m, v));
      L::store(high + (i - lows), L::first(count - own), L::compress(is_high(v) & all, v));
      lows += own;
      i += count;
    };
    // Many loads before the first of their stores, whose addresses are known late.
    constexpr int kUnrolled = 8;
    while (n - i >= kUnrolled * kLanes) {
      V v[kUnrolled];
      each<kUnrolled>([&](auto k) __attribute__((always_inline)) {
        v[k] = L::load(from + i + k * kLanes);
        if constexpr (FromRow) v[k] = order.key(v[k]);
      });
      each<kUnrolled>([&](auto k) __attribute__((always_inline)) { move(v[k]); });
    }
    while (n - i >= kLanes) {
      V v = L::load(from + i);
      if constexpr (FromRow) v = order.key(v);
      move(v);
    }
    if (i < n) move_some(n - i);
    return lows;
  }

  static void fill(S* to, int64_t n, V v) {
    int64_t i = 0;
    for (; n - i >= kLanes; i += kLanes) L::store(to + i, v);
    if (i < n) L::store(to + i, L::first(n - i), v);
  }

  /// Divides a part of more than kMostShort keys; of keys that are equal, those of the first part are done and it is
  /// empty.
  template <bool FromRow>
  static void divide(const S* from, const KeyPart& p, const Order& order, KeyPart& first, KeyPart& second) {
    S* const to = static_cast<S*>(p.to);
    S* const space = static_cast<S*>(p.space);
    const S by = pivot<FromRow>(from, p.n, order);
    int64_t lows = divide<FromRow, false>(from, to, space, p.n, by, order);
    const bool is_least = lows == 0;  // the keys are in the space now
    if (is_least) {
      lows = divide<false, true>(space, to, space, p.n, by, order);
      fill(to, lows, order.bits(V{} + by));
    }
    first = {to, space + (p.n - lows), is_least ? 0 : lows, false, p.depth - 1};
    second = {to + lows, space, p.n - lows, true, p.depth - 1};
  }

  static void sort_part(KeyPart p, const Order& order, const KeyOrder& given) {
    while (true) {
      const S* const from = static_cast<S*>(p.in_space ? p.space : p.to);
      if (p.n <= kMostShort) return sort_short<false>(from, static_cast<S*>(p.to), p.n, order);
      if (p.depth <= 0) return given.sort_deep(p, given);
      KeyPart first, second;
      divide<false>(from, p, order, first, second);
      sort_part(first, order, given);
      p = second;
    }
  }

  static void sort(const void* row, const KeyPart& p, const KeyOrder& given) {
    const Order order(given.special, given.descending);
    if (row == nullptr) return sort_part(p, order, given);
    if (p.n <= kMostShort) return sort_short<true>(static_cast<const S*>(row), static_cast<S*>(p.to), p.n, order);
    KeyPart first, second;
    divide<true>(static_cast<const S*>(row), p, order, first, second);
    sort_part(first, order, given);
    sort_part(second, order, given);
  }
  static void divide(const void* row, const KeyPart& p, const KeyOrder& given, KeyPart& first, KeyPart& second) {
    if (row != nullptr)
      divide<true>(static_cast<const S*>(row), p, Order(given.special, given.descending), first, second);
    else
      divide<false>(static_cast<const S*>(p.in_space ? p.space : p.to), p, Order(given.special, given.descending),
                    first, second);
  }
};
#undef CALQUE_INLINE

}  // namespace
}  // namespace calque::runtime::CALQUE_LEVEL

#define CALQUE_QUICKSORT(S, IsFloat) {&Quicksort<S, IsFloat>::sort, &Quicksort<S, IsFloat>::divide, Lanes<S>::kLanes}
#else
#define CALQUE_QUICKSORT(S, IsFloat) {nullptr, nullptr, 0}
#endif
