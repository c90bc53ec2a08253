// Sorting of rows by a radix sort, least significant digit first (Knuth, The Art of Computer Programming 3, 5.2.5), or
// by a quicksort of vectors (keys.h): of keys alone, or of keys of at most 32 bits above the numbers of their elements,
// which put equal ones in order.
//
// The elements of a key are mapped to unsigned integers of their width that are ordered as they are: the order of all
// zeros is one number, that of all NaNs the greatest, and the complement is the descending order. Digits that are equal
// in all elements of a row are skipped. All passes are stable, so results do not depend on how a long row is cut into
// pieces, nor on which thread sorts what.
#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstring>
#include <limits>
#include <numeric>
#include <optional>
#include <type_traits>
#include <vector>

#include "runtime/memory/workspace.h"
#include "runtime/routines/driver.h"
#include "runtime/routines/keys.h"

namespace calque::runtime {
namespace {

using primitives::RoutineFlag;

// Rows of fewer elements are sorted by insertion.
constexpr int64_t kInsertion = 48;
// Rows of at least two pieces are sorted by several threads. A piece has as many elements.
constexpr int64_t kPiece = int64_t{1} << 18;
constexpr int kDigitBits = 8, kBuckets = 1 << kDigitBits;

/// The unsigned integer of a width in bytes.
template <size_t Size>
using Unsigned =
    std::conditional_t<Size == 1, uint8_t,
                       std::conditional_t<Size == 2, uint16_t, std::conditional_t<Size == 4, uint32_t, uint64_t>>>;

/// How the bits of an element become an integer in its order, and back.
template <class T, class Bits = Unsigned<sizeof(T)>>
struct Order {
  static constexpr bool is_float = is_floating(dtype_of<T>);
  static constexpr bool is_signed = is_float || (std::is_integral_v<T> && std::is_signed_v<T>);
  static constexpr Bits kSign = Bits(Bits(1) << (8 * sizeof(T) - 1));
  /// The bits of infinity: those of NaNs are greater, without the sign.
  static constexpr Bits kInfinity = dtype_of<T> == DType::f16    ? Bits(0x7c00)
                                    : dtype_of<T> == DType::bf16 ? Bits(0x7f80)
                                    : sizeof(T) == 4             ? Bits(0x7f800000)
                                                                 : Bits(uint64_t{0x7ff} << 52);

  static bool is_nan(Bits b) { return is_float && Bits(b & Bits(~kSign)) > kInfinity; }
  static bool is_negative_zero(Bits b) { return is_float && b == kSign; }

  static Bits key(Bits b) {
    if constexpr (is_float) {
      if (is_nan(b)) return Bits(~Bits(0));
      const Bits x = b == kSign ? Bits(0) : b;
      return Bits(x ^ ((x & kSign) != 0 ? Bits(~Bits(0)) : kSign));
    } else if constexpr (is_signed) {
      return Bits(b ^ kSign);
    } else {
      return b;
    }
  }
  /// The bits of a number other than zero and NaN; of these, those of one of them.
  static Bits bits(Bits key) {
    if constexpr (is_float) {
      return Bits(key ^ ((key & kSign) != 0 ? kSign : Bits(~Bits(0))));
    } else if constexpr (is_signed) {
      return Bits(key ^ kSign);
    } else {
      return key;
    }
  }
};

/// A key with the number of its element. Keys of up to 32 bits share a word with it, in the upper half.
struct Wide {
  uint64_t key;
  uint64_t index;
};
template <class Key>
using Numbered = std::conditional_t<sizeof(Key) == 8, Wide, uint64_t>;

template <class E, bool HasIndex>
struct Element {
  static E make(uint64_t key, uint32_t index) {
    if constexpr (std::is_same_v<E, Wide>) {
      return {key, index};
    } else if constexpr (HasIndex) {
      return key << 32 | index;
    } else {
      return (void)index, static_cast<E>(key);
    }
  }
  static uint64_t key(const E& e) {
    if constexpr (std::is_same_v<E, Wide>) {
      return e.key;
    } else if constexpr (HasIndex) {
      return e >> 32;
    } else {
      return e;
    }
  }
  static uint32_t index(const E& e) {
    if constexpr (std::is_same_v<E, Wide>) {
      return static_cast<uint32_t>(e.index);
    } else {
      return static_cast<uint32_t>(e);
    }
  }
  static size_t digit(const E& e, int position) { return (key(e) >> (position * kDigitBits)) & (kBuckets - 1); }
};

using Counts = std::array<uint32_t, kBuckets>;

template <class A, class E>
void insertion_sort(E* e, int64_t n) {
  for (int64_t i = 1; i < n; ++i) {
    const E moved = e[i];
    const uint64_t key = A::key(moved);
    int64_t j = i;
    for (; j > 0 && A::key(e[j - 1]) > key; --j) e[j] = e[j - 1];
    e[j] = moved;
  }
}

/// Sorts n elements by the lowest `Digits` digits of their keys, with as much room beside them. Returns where they
/// are: in `e` or in `other`.
template <int Digits, class A, class E>
E* radix_sort(E* e, E* other, int64_t n) {
  if (n < kInsertion) {
    insertion_sort<A>(e, n);
    return e;
  }
  const int64_t pieces = n < 2 * kPiece ? 1 : (n + kPiece - 1) / kPiece;
  const auto range_of = [&](int64_t piece) { return std::pair(piece * n / pieces, (piece + 1) * n / pieces); };
  const auto over_pieces = [&](const auto& work) {
    if (pieces == 1)
      work(0, 1);
    else
      in_parallel(pieces, 1, work);
  };
  // The digits of all digits, counted in one pass; of several pieces, by piece.
  std::vector<std::array<Counts, Digits>> counted(static_cast<size_t>(pieces));
  over_pieces([&](int64_t first, int64_t last) {
    for (int64_t p = first; p < last; ++p) {
      auto& counts = counted[static_cast<size_t>(p)];
      const auto [begin, end] = range_of(p);
      for (int64_t i = begin; i < end; ++i)
        for (int position = 0; position < Digits; ++position)
          ++counts[static_cast<size_t>(position)][A::digit(e[i], position)];
    }
  });
  bool is_counted = true;  // by the elements as they are now in the pieces
  for (int position = 0; position < Digits; ++position) {
    const auto at = static_cast<size_t>(position);
    int64_t of_first = 0;
    const size_t digit = A::digit(e[0], position);
    for (const auto& counts : counted) of_first += counts[at][digit];
    if (of_first == n) continue;  // all digits are equal
    if (pieces > 1 && !is_counted) {
      over_pieces([&](int64_t first, int64_t last) {
        for (int64_t p = first; p < last; ++p) {
          Counts& counts = counted[static_cast<size_t>(p)][at];
          counts.fill(0);
          const auto [begin, end] = range_of(p);
          for (int64_t i = begin; i < end; ++i) ++counts[A::digit(e[i], position)];
        }
      });
    }
    // Where the elements with a digit of each piece go.
    uint32_t next = 0;
    for (size_t d = 0; d < kBuckets; ++d) {
      for (auto& counts : counted) {
        const uint32_t count = counts[at][d];
        counts[at][d] = next;
        next += count;
      }
    }
    over_pieces([&](int64_t first, int64_t last) {
      for (int64_t p = first; p < last; ++p) {
        Counts to = counted[static_cast<size_t>(p)][at];
        const auto [begin, end] = range_of(p);
        for (int64_t i = begin; i < end; ++i) other[to[A::digit(e[i], position)]++] = e[i];
      }
    });
    std::swap(e, other);
    is_counted = false;
  }
  return e;
}

/// Room for the elements of one row at a time.
struct Rows {
  int64_t n, limit;
  bool descending;
};

template <class T>
Unsigned<sizeof(T)> bits_at(const void* row, int64_t i) {
  Unsigned<sizeof(T)> b;
  std::memcpy(&b, static_cast<const char*>(row) + i * static_cast<int64_t>(sizeof(T)), sizeof(T));
  return b;
}

/// The key of an element, which is the complement if the order is descending.
template <class T>
Unsigned<sizeof(T)> key_of(const void* row, int64_t i, bool descending) {
  using Bits = Unsigned<sizeof(T)>;
  const Bits key = Order<T>::key(bits_at<T>(row, i));
  return descending ? Bits(~key) : key;
}

/// Runs work on ranges of a row, on several threads if it is long.
template <class Work>
void over_row(int64_t n, const Work& work) {
  if (n < 2 * kPiece)
    work(0, n);
  else
    in_parallel(n, kPiece / 4, work);
}

/// What key_routines() take of a dtype.
template <class T>
struct Keys {
  using Signed = std::make_signed_t<Unsigned<sizeof(T)>>;
  static constexpr bool is_float = Order<T>::is_float;
  static constexpr auto kFlip = Order<T>::is_signed ? Unsigned<sizeof(T)>(0) : Order<T>::kSign;
  static constexpr auto kSpecial = static_cast<Signed>(is_float ? Order<T>::kInfinity : kFlip);
  static constexpr int kSize = sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 1 : sizeof(T) == 4 ? 2 : 3;

  static KeyRoutines::Find find(bool descending) {
    const KeyRoutines& keys = key_routines();
    return (is_float ? keys.find_floats : keys.find_integers)[kSize][descending ? 1 : 0];
  }
  static KeyRoutines::Network network() {
    const KeyRoutines& keys = key_routines();
    return (is_float ? keys.sort_floats : keys.sort_integers)[kSize];
  }
  static KeyRoutines::Number number() {
    const KeyRoutines& keys = key_routines();
    return (is_float ? keys.number_floats : keys.number_integers)[kSize];
  }
  static const KeyQuicksort& quicksort() {
    const KeyRoutines& keys = key_routines();
    return (is_float ? keys.quick_floats : keys.quick_integers)[kSize];
  }
  /// The bound of a scan for the elements that come before one.
  static ScanBound bound(const void* row, int64_t i) {
    return {scan_key<is_float>(static_cast<Signed>(bits_at<T>(row, i)), kSpecial), kSpecial};
  }
  /// Whether a bound has one after it, with which its equals pass.
  static bool has_next(const ScanBound& bound, bool descending) {
    return bound.key != (descending ? std::numeric_limits<Signed>::min() : std::numeric_limits<Signed>::max());
  }
};

/// Sorts a part whose pivots were bad, by a number of steps that does not depend on them.
template <class T>
void sort_deep(const KeyPart& part, const KeyOrder& order) {
  using Bits = Unsigned<sizeof(T)>;
  using Signed = typename Keys<T>::Signed;
  auto* const to = static_cast<Bits*>(part.to);
  auto* const space = static_cast<Bits*>(part.space);
  Bits* const keys = part.in_space ? space : to;
  for (int64_t i = 0; i < part.n; ++i) keys[i] ^= Order<T>::kSign;
  const Bits* const sorted = radix_sort<sizeof(T), Element<Bits, false>>(keys, part.in_space ? to : space, part.n);
  const Bits flip = order.descending ? Bits(~Order<T>::kSign) : Order<T>::kSign;
  for (int64_t i = 0; i < part.n; ++i)
    to[i] = static_cast<Bits>(scan_bits<Order<T>::is_float>(static_cast<Signed>(sorted[i] ^ flip), Keys<T>::kSpecial));
}

/// Writes the elements of a row in order, with as much room beside them. Several threads divide a long one into parts
/// until each has some, and sort these.
template <class T>
void quicksort(const void* row, void* to, void* space, const Rows& rows) {
  const KeyQuicksort& quick = Keys<T>::quicksort();
  const KeyOrder order{Keys<T>::kSpecial, rows.descending, &sort_deep<T>};
  const KeyPart whole{to, space, rows.n, false, 2 * static_cast<int>(std::bit_width(static_cast<uint64_t>(rows.n)))};
  const auto threads = static_cast<size_t>(num_threads());
  if (rows.n < 2 * kPiece || threads == 1) return quick.sort(row, whole, order);
  std::vector<KeyPart> parts(2);
  quick.divide(row, whole, order, parts[0], parts[1]);
  const auto is_divided = [](const KeyPart& p) { return p.n >= kPiece / 4 && p.depth > 0; };
  while (parts.size() < 4 * threads && std::ranges::any_of(parts, is_divided)) {
    std::vector<KeyPart> next(2 * parts.size(), KeyPart{});
    in_parallel(static_cast<int64_t>(parts.size()), 1, [&](int64_t first, int64_t last) {
      for (auto i = static_cast<size_t>(first); i < static_cast<size_t>(last); ++i) {
        if (is_divided(parts[i]))
          quick.divide(nullptr, parts[i], order, next[2 * i], next[2 * i + 1]);
        else
          next[2 * i] = parts[i];
      }
    });
    std::erase_if(next, [](const KeyPart& p) { return p.n == 0; });
    parts = std::move(next);
  }
  in_parallel(static_cast<int64_t>(parts.size()), 1, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) quick.sort(nullptr, parts[static_cast<size_t>(i)], order);
  });
}

/// Whether n keys that differ in these bits are sorted faster, with their numbers, by the quicksort than by the radix
/// sort, which skips digits that are equal. The bounds are measured, with vectors of 4 and of 8 integers.
bool is_quicksort_faster(uint32_t differing, int64_t n) {
  const KeyQuicksort& quick = Keys<uint64_t>::quicksort();
  if (quick.sort == nullptr) return false;
  int digits = 0;
  for (; differing != 0; differing >>= kDigitBits) digits += (differing & (kBuckets - 1)) != 0 ? 1 : 0;
  if (quick.lanes < 8) return n <= (digits <= 1 ? 64 : digits == 2 ? 128 : 1024);
  return digits > 2 || n <= (digits <= 1 ? 512 : 8192);
}

/// Sorts a row's elements with their numbers, with room for as many in `first` and `second`. Returns where they are.
template <class T>
Numbered<Unsigned<sizeof(T)>>* number_and_sort(const void* row, const Rows& rows, Numbered<Unsigned<sizeof(T)>>* first,
                                               Numbered<Unsigned<sizeof(T)>>* second) {
  using E = Numbered<Unsigned<sizeof(T)>>;
  if constexpr (std::is_same_v<E, Wide>) {
    over_row(rows.n, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) first[i] = {key_of<T>(row, i, rows.descending), static_cast<uint64_t>(i)};
    });
  } else {
    std::atomic<uint32_t> differing = 0;
    over_row(rows.n, [&](int64_t begin, int64_t end) {
      differing |= Keys<T>::number()(row, begin, end, Keys<T>::kSpecial, rows.descending, first);
    });
    // Integers of 64 bits, of which no two are equal.
    if (is_quicksort_faster(differing, rows.n)) {
      quicksort<uint64_t>(first, first, second, {rows.n, rows.n, false});
      return first;
    }
  }
  return radix_sort<sizeof(T), Element<E, true>>(first, second, rows.n);
}

/// Zeros of both signs, and NaNs, are one key: puts those of a row into its sorted elements as they follow each other.
template <class T>
void restore_special(const void* row, Unsigned<sizeof(T)>* sorted, const Rows& rows) {
  using Bits = Unsigned<sizeof(T)>;
  const auto restore = [&](Bits bits, auto is_one) {
    const auto key = [&](Bits b) { return key_of<T>(&b, 0, rows.descending); };
    const auto found = std::ranges::equal_range(sorted, sorted + rows.limit, key(bits), {}, key);
    Bits* next = found.begin();
    for (int64_t i = 0; next != found.end(); ++i)
      if (const Bits b = bits_at<T>(row, i); is_one(b)) *next++ = b;
  };
  restore(Bits(0), [](Bits b) { return Bits(b & Bits(~Order<T>::kSign)) == 0; });
  restore(Bits(~Bits(0)), [](Bits b) { return Order<T>::is_nan(b); });
}

/// The sorted elements of a row alone; `first` is the result, or room as `second`.
template <class T>
void sort_values(const void* row, void* result, const Rows& rows, Unsigned<sizeof(T)>* first,
                 Unsigned<sizeof(T)>* second) {
  using Bits = Unsigned<sizeof(T)>;
  using A = Element<Bits, false>;
  auto* const to = static_cast<Bits*>(result);
  if (Keys<T>::quicksort().sort != nullptr) {
    quicksort<T>(row, first, second, rows);
    if (first != to) std::copy_n(first, rows.limit, to);
  } else {
    over_row(rows.n, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) first[i] = key_of<T>(row, i, rows.descending);
    });
    const Bits* const sorted = radix_sort<sizeof(T), A>(first, second, rows.n);
    const Bits flip = rows.descending ? Bits(~Bits(0)) : Bits(0);
    over_row(rows.limit, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) to[i] = Order<T>::bits(Bits(sorted[i] ^ flip));
    });
  }
  if constexpr (Order<T>::is_float) restore_special<T>(row, to, rows);
}

/// The order of elements, equal ones in that of their numbers.
template <class E>
bool comes_before(const E& a, const E& b) {
  if constexpr (std::is_same_v<E, Wide>) {
    return a.key != b.key ? a.key < b.key : a.index < b.index;
  } else {
    return a < b;
  }
}

/// Whether the first elements of a row in order are few enough to be selected instead of sorting all.
bool is_selection(const Rows& rows) { return rows.n >= 8 * std::max<int64_t>(rows.limit, 32); }

/// Candidates for the first elements are kept in a list of as many, which is cut to the first ones when it is full.
int64_t candidates(const Rows& rows) { return std::max<int64_t>(2 * rows.limit, 64); }

/// Lists the elements [begin, end) of a row that may be among its first `limit` ones, at most as many as `candidates`,
/// and returns how many. If `known` is not null, `limit` elements of the row come before it or are it.
template <class T, class A, class E>
int64_t select_candidates(const void* row, int64_t begin, int64_t end, const E* known, E* list, const Rows& rows) {
  const int64_t room = candidates(rows);
  int64_t count = 0, i = begin;
  uint64_t last = 0;
  ScanBound bound{};
  bool takes_equal = false;  // elements equal to the bound, of which those that come first stay
  const auto set_bound = [&](const E& e) {
    last = A::key(e);
    bound = Keys<T>::bound(row, A::index(e));
  };
  const auto cut = [&] {
    std::nth_element(list, list + rows.limit - 1, list + count, comes_before<E>);
    count = rows.limit;
    set_bound(list[rows.limit - 1]);
    takes_equal = false;
  };
  if (known != nullptr) {
    set_bound(*known);
    takes_equal = Keys<T>::has_next(bound, rows.descending);
    if (takes_equal) bound.key += rows.descending ? -1 : 1;
  }
  if (!takes_equal) {
    for (; i < end && count < room; ++i)
      list[count++] = A::make(key_of<T>(row, i, rows.descending), static_cast<uint32_t>(i));
    if (count < room) return count;
    cut();
  }
  const auto add = [&](int64_t at) {
    const uint64_t key = key_of<T>(row, at, rows.descending);
    if (takes_equal ? key > last : key >= last) return;
    list[count++] = A::make(key, static_cast<uint32_t>(at));
    if (count == room) cut();
  };
  const KeyRoutines::Find find = Keys<T>::find(rows.descending);
  alignas(64) uint8_t flags[kScanBlock];
  for (;; i += kScanBlock) {
    i = find(row, i, end, bound, flags);
    if (end - i < kScanBlock) break;
    for (int64_t j = 0; j < kScanBlock; j += 8) {
      uint64_t eight = 0;
      std::memcpy(&eight, flags + j, 8);
      if (eight == 0) continue;
      for (int64_t k = 0; k < 8; ++k)
        if (flags[j + k] != 0) add(i + j + k);
    }
  }
  for (; i < end; ++i) add(i);
  return count;
}

/// How many pieces a long row's candidates are selected from, by several threads.
int64_t selected_pieces(const Rows& rows) {
  if (rows.n < 2 * kPiece) return 1;
  // Each piece scans many more elements than it lists.
  return std::clamp<int64_t>(rows.n / (8 * candidates(rows)), 1, std::min<int64_t>(rows.n / (kPiece / 4), 64));
}

/// The first of a row's elements in order by a sample of it, at most as many as `candidates`: elements that come after
/// `limit` ones of the sample need no look, in whichever order the row is.
template <class T, class A, class E>
int64_t select_sample(const void* row, int64_t sample, E* list, const Rows& rows) {
  const int64_t room = candidates(rows), step = rows.n / sample;
  int64_t count = 0;
  uint64_t last = ~uint64_t{0};
  for (int64_t i = step / 2; i < rows.n; i += step) {
    const uint64_t key = key_of<T>(row, i, rows.descending);
    if (key >= last) continue;
    list[count++] = A::make(key, static_cast<uint32_t>(i));
    if (count < room) continue;
    std::nth_element(list, list + rows.limit - 1, list + count, comes_before<E>);
    count = rows.limit;
    last = A::key(list[rows.limit - 1]);
  }
  return count;
}

/// The first `limit` elements in order of a row, of which they are few. The list has room for the candidates of all
/// pieces. Those of the others come before the last one of the first piece's.
template <class T, class A, class E>
void select_first(const void* row, E* list, const Rows& rows) {
  const int64_t pieces = selected_pieces(rows), room = candidates(rows);
  const auto start = [&](int64_t piece) { return piece * rows.n / pieces; };
  int64_t count = 0;
  const auto cut = [&] {
    if (count <= rows.limit) return;
    std::nth_element(list, list + rows.limit - 1, list + count, comes_before<E>);
    count = rows.limit;
  };
  std::optional<E> known;
  const auto learn = [&] {
    cut();
    if (count == rows.limit) known = list[rows.limit - 1];
  };
  if (const int64_t sample = std::max(4 * std::max<int64_t>(rows.limit, 64), rows.n / 256); rows.n >= 16 * sample) {
    count = select_sample<T, A>(row, sample, list, rows);
    learn();
  }
  const auto select = [&](int64_t piece, E* to) {
    return select_candidates<T, A>(row, start(piece), start(piece + 1), known ? &*known : nullptr, to, rows);
  };
  count = select(0, list);
  if (pieces > 1) {
    learn();
    std::array<int64_t, 64> counts;
    in_parallel(pieces - 1, 1, [&](int64_t first, int64_t last) {
      for (int64_t p = first + 1; p <= last; ++p) counts[static_cast<size_t>(p)] = select(p, list + p * room);
    });
    for (int64_t p = 1; p < pieces; ++p) {
      const int64_t more = counts[static_cast<size_t>(p)];
      std::copy_n(list + p * room, more, list + count);
      count += more;
    }
  }
  cut();
  std::sort(list, list + count, comes_before<E>);
}

/// The numbers of a row's elements in order, in the lower halves of what it returns, and the elements of one key.
template <class T>
void sort_numbered(const void* row, void* values, int32_t* indices, const Rows& rows,
                   Numbered<Unsigned<sizeof(T)>>* first, Numbered<Unsigned<sizeof(T)>>* second) {
  using Bits = Unsigned<sizeof(T)>;
  using E = Numbered<Bits>;
  using A = Element<E, true>;
  const E* sorted = first;
  if (is_selection(rows))
    select_first<T, A>(row, first, rows);
  else
    sorted = number_and_sort<T>(row, rows, first, second);
  over_row(rows.limit, [&](int64_t begin, int64_t end) {
    if (indices != nullptr) {
      for (int64_t i = begin; i < end; ++i) indices[i] = static_cast<int32_t>(A::index(sorted[i]));
    }
    if (values != nullptr) {
      auto* const to = static_cast<Bits*>(values);
      for (int64_t i = begin; i < end; ++i) to[i] = bits_at<T>(row, A::index(sorted[i]));
    }
  });
}

/// Runs work(first, last) on the rows. Few long rows follow each other, since threads share each of them.
template <class Work>
void over_rows(int64_t count, int64_t n, const Work& work) {
  if (n >= 2 * kPiece) return work(0, count);
  in_parallel(count, grain_of(50.0 * static_cast<double>(n)), work);
}

// Fewer rows than this are not worth the lanes of a network.
constexpr int64_t kNetworkRows = 4;

/// The pairs of a network that finds the first `limit` of n elements: a merge exchange (Knuth, 5.2.2, algorithm M)
/// without the pairs that no result depends on.
std::vector<uint8_t> network_pairs(int64_t n, int64_t limit) {
  std::vector<uint8_t> all;
  int64_t half = 1;
  while (2 * half < n) half *= 2;
  for (int64_t p = half; p > 0; p /= 2) {
    for (int64_t q = half, r = 0, d = p;; d = q - p, q /= 2, r = p) {
      for (int64_t i = 0; i + d < n; ++i) {
        if ((i & p) != r) continue;
        all.push_back(static_cast<uint8_t>(i));
        all.push_back(static_cast<uint8_t>(i + d));
      }
      if (q == p) break;
    }
  }
  std::vector<bool> is_read(static_cast<size_t>(n));
  std::fill_n(is_read.begin(), limit, true);
  std::vector<uint8_t> pairs;
  for (size_t i = all.size(); i > 0; i -= 2) {
    const uint8_t a = all[i - 2], b = all[i - 1];
    if (!is_read[a] && !is_read[b]) continue;
    is_read[a] = is_read[b] = true;
    pairs.push_back(b);  // in reverse
    pairs.push_back(a);
  }
  std::ranges::reverse(pairs);
  return pairs;
}

template <class T>
void sort_short_rows(const Rows& rows, int64_t count, const void* keys, void* values, int32_t* indices) {
  const std::vector<uint8_t> pairs = network_pairs(rows.n, rows.limit);
  const KeyRoutines::Network network = Keys<T>::network();
  in_parallel(count, std::max<int64_t>(256, grain_of(4.0 * static_cast<double>(rows.n))),
              [&](int64_t begin, int64_t end) {
                const auto at = [&](int64_t n) { return begin * n * static_cast<int64_t>(sizeof(T)); };
                network({.keys = static_cast<const char*>(keys) + at(rows.n),
                         .count = end - begin,
                         .n = rows.n,
                         .limit = rows.limit,
                         .pairs = pairs.data(),
                         .num_pairs = static_cast<int64_t>(pairs.size() / 2),
                         .special = Keys<T>::kSpecial,
                         .descending = rows.descending},
                        values == nullptr ? nullptr : static_cast<char*>(values) + at(rows.limit),
                        indices == nullptr ? nullptr : indices + begin * rows.limit);
              });
}

template <class T>
void sort_by_one(const Rows& rows, int64_t count, const void* keys, void* values, int32_t* indices) {
  using Bits = Unsigned<sizeof(T)>;
  if (rows.n <= kNetworkRow && count >= kNetworkRows) return sort_short_rows<T>(rows, count, keys, values, indices);
  const auto step = [](int64_t n) { return n * static_cast<int64_t>(sizeof(T)); };
  const auto sort_rows = [&]<class E>(E, int64_t space_per_row, const auto& sort_row) {
    over_rows(count, rows.n, [&](int64_t begin, int64_t end) {
      const Space<E> space(space_per_row);
      for (int64_t row = begin; row < end; ++row) {
        sort_row(static_cast<const char*>(keys) + row * step(rows.n),
                 values == nullptr ? nullptr : static_cast<char*>(values) + row * step(rows.limit),
                 indices == nullptr ? nullptr : indices + row * rows.limit, space.get());
      }
    });
  };
  if (indices == nullptr && !is_selection(rows)) {
    // The sorted elements are in the result from the start if they are all there.
    const bool is_whole = rows.limit == rows.n && Keys<T>::quicksort().sort != nullptr;
    sort_rows(Bits(), (is_whole ? 1 : 2) * rows.n, [&](const void* row, void* to, int32_t*, Bits* space) {
      sort_values<T>(row, to, rows, is_whole ? static_cast<Bits*>(to) : space + rows.n, space);
    });
  } else {
    sort_rows(Numbered<Bits>(), is_selection(rows) ? selected_pieces(rows) * candidates(rows) : 2 * rows.n,
              [&](const void* row, void* to, int32_t* order, Numbered<Bits>* space) {
                sort_numbered<T>(row, to, order, rows, space, is_selection(rows) ? nullptr : space + rows.n);
              });
  }
}

/// Sorts the numbers in `order`, a row's permutation so far, by one more key.
template <class T>
void reorder(const void* row, const Rows& rows, uint32_t* order, Wide* space) {
  using Bits = Unsigned<sizeof(T)>;
  using E = Numbered<Bits>;
  using A = Element<E, true>;
  E* const first = reinterpret_cast<E*>(space);
  over_row(rows.n, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) first[i] = A::make(key_of<T>(row, order[i], rows.descending), order[i]);
  });
  const E* const sorted = radix_sort<sizeof(T), A>(first, first + rows.n, rows.n);
  over_row(rows.n, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) order[i] = A::index(sorted[i]);
  });
}

template <class Work>
void visit_ordered(DType dtype, const Work& work) {
  visit_dtype(dtype, [&]<class T>() {
    if constexpr (!is_complex(dtype_of<T>)) work.template operator()<T>();
  });
}

/// By the last key first: each sort keeps the order of equal elements.
void sort_by_many(const Rows& rows, int64_t count, const RoutineRef& r, void* const* pointers, bool has_values,
                  int32_t* indices) {
  const size_t keys = r.arguments.size();
  over_rows(count, rows.n, [&](int64_t begin, int64_t end) {
    const Space<Wide> space(2 * rows.n);
    const Space<uint32_t> space_of_order(rows.n);
    uint32_t* const order = space_of_order.get();
    for (int64_t row = begin; row < end; ++row) {
      std::iota(order, order + rows.n, 0U);
      for (size_t k = keys; k-- > 0;) {
        const int64_t size = static_cast<int64_t>(size_of(r.arguments[k].dtype));
        const auto* const key = static_cast<const char*>(pointers[k]) + row * rows.n * size;
        visit_ordered(r.arguments[k].dtype, [&]<class T>() { reorder<T>(key, rows, order, space.get()); });
      }
      if (indices != nullptr) {
        for (int64_t i = 0; i < rows.limit; ++i) indices[row * rows.limit + i] = static_cast<int32_t>(order[i]);
      }
      for (size_t k = 0; has_values && k < keys; ++k) {
        visit_ordered(r.arguments[k].dtype, [&]<class T>() {
          const T* const from = static_cast<const T*>(pointers[k]) + row * rows.n;
          T* const to = static_cast<T*>(pointers[keys + k]) + row * rows.limit;
          for (int64_t i = 0; i < rows.limit; ++i) to[i] = from[order[i]];
        });
      }
    }
  });
}

}  // namespace

void sort(const RoutineRef& r, void* const* pointers) {
  const Shape& shape = r.arguments[0].shape;
  const size_t last = shape.size() - 1, keys = r.arguments.size();
  const bool has_values = (r.flags & RoutineFlag::values) != 0, has_indices = (r.flags & RoutineFlag::indices) != 0;
  const Rows rows{shape[last], r.results[0].shape[last], (r.flags & RoutineFlag::descending) != 0};
  const int64_t count = shape.without(last).num_elements();
  if (count == 0 || rows.limit == 0) return;
  void* const* const results = pointers + keys;
  int32_t* const indices = has_indices ? static_cast<int32_t*>(results[r.results.size() - 1]) : nullptr;
  if (keys > 1) return sort_by_many(rows, count, r, pointers, has_values, indices);
  visit_ordered(r.arguments[0].dtype, [&]<class T>() {
    sort_by_one<T>(rows, count, pointers[0], has_values ? results[0] : nullptr, indices);
  });
}

}  // namespace calque::runtime
