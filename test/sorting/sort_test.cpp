// The primitive `sort`: the routine against std::stable_sort with a comparison, bit by bit, on keys of every kind.
#include <algorithm>
#include <atomic>
#include <numeric>

#include <gtest/gtest.h>

#include "calque/device.h"

#include "runtime/routines/keys.h"
#include "sorting/rows.h"
#include "support/op_cases.h"
#include "support/splitting.h"
#include "transform/batch/vmap.h"
#include "transform/sorting/expand_sort.h"

namespace calque::test {
namespace {

std::string text(const std::vector<AnyArray>& keys, const SortOf& f) {
  std::string out;
  for (const AnyArray& k : keys) out += to_string(k.type()) + " ";
  return out + (f.descending ? "descending " : "") + (f.values ? "values " : "") + (f.indices ? "indices " : "") +
         std::to_string(f.limit);
}

/// Elements of any bits.
AnyArray bits_of(DType dtype, const Shape& shape, Rng& rng) {
  AnyArray out = primitives::make_array({dtype, shape});
  auto* const to = static_cast<unsigned char*>(out.mutable_data());
  const size_t bytes = static_cast<size_t>(shape.num_elements()) * size_of(dtype);
  for (size_t i = 0; i < bytes; ++i) to[i] = static_cast<unsigned char>(rng.next());
  return out;
}

void expect_sorted(const std::vector<AnyArray>& keys, const SortOf& form, Device device = cpu()) {
  const Graph g = sort_graph(keys, form);
  EXPECT_TRUE(same_bits(run_on(device, g, keys), reference::evaluate(g, keys))) << text(keys, form);
}

/// What the reference itself means by the order, without its code.
TEST(Sort, OrderOfSpecialNumbers) {
  const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> x = {nan, 0.0F, -1, -0.0F, inf, 1, -nan, -inf, 0.0F};
  const AnyArray keys = AnyArray::from<float>(std::span(x), Shape{9});
  const auto expect = [&](bool descending, const std::vector<int32_t>& order) {
    for (const bool compiled : {false, true}) {
      const Graph g = sort_graph({keys}, {.descending = descending});
      const auto got = compiled ? run_on(cpu(), g, {keys}) : reference::evaluate(g, std::vector{keys});
      const auto* const perm = static_cast<const int32_t*>(got[1].data());
      EXPECT_EQ(std::vector<int32_t>(perm, perm + 9), order);
      for (size_t i = 0; i < 9; ++i) {
        const float want = x[static_cast<size_t>(order[i])];
        EXPECT_EQ(std::memcmp(static_cast<const float*>(got[0].data()) + i, &want, sizeof(float)), 0) << i;
      }
    }
  };
  expect(false, {7, 2, 1, 3, 8, 5, 4, 0, 6});
  expect(true, {0, 6, 4, 5, 1, 3, 8, 2, 7});
}

TEST(Sort, EveryTypeAndKindOfData) {
  Rng rng(1);
  for (const DType dtype : kOrdered) {
    for (const Data data : kAllData) {
      for (const int64_t n : {0, 1, 2, 47, 48, 97, 1009}) {
        const std::vector<AnyArray> keys = {keys_of(dtype, n == 1009 ? 1 : 3, n, data, rng)};
        const bool descending = rng.chance(50);
        const bool values = rng.chance(70);
        expect_sorted(keys, {descending, !values || rng.chance(40), values});
      }
    }
  }
}

TEST(Sort, AllSixteenBitPatterns) {
  Rng rng(2);
  std::vector<uint16_t> bits(1 << 16);
  std::iota(bits.begin(), bits.end(), uint16_t{0});
  rng.shuffle(bits);
  for (const DType dtype : {DType::f16, DType::bf16, DType::i16, DType::u16}) {
    AnyArray keys = primitives::make_array({dtype, {1 << 16}});
    std::memcpy(keys.mutable_data(), bits.data(), bits.size() * sizeof(uint16_t));
    for (const bool descending : {false, true}) {
      expect_sorted({keys}, {descending, false, true});
      expect_sorted({keys}, {descending, true, true});
    }
    AnyArray rows = primitives::make_array({dtype, {1 << 10, 1 << 6}});
    std::memcpy(rows.mutable_data(), bits.data(), bits.size() * sizeof(uint16_t));
    for (const bool descending : {false, true}) {
      expect_sorted({rows}, {descending, false, true});
      expect_sorted({rows}, {descending, true, true});
    }
  }
}

TEST(Sort, FirstOnes) {
  Rng rng(3);
  for (const DType dtype : {DType::u8, DType::f16, DType::f32, DType::i64, DType::f64}) {
    for (const Data data : kAllData) {
      const std::vector<AnyArray> keys = {keys_of(dtype, 2, 2003, data, rng)};
      for (const int64_t limit : {0, 1, 31, 32, 250, 251, 2003}) {
        const bool descending = rng.chance(50);
        expect_sorted(keys, {descending, true, true, limit});
        expect_sorted(keys, {descending, false, true, limit});
      }
    }
  }
}

/// Selections of few elements scan blocks of 64: rows around a block, and those where many elements are equal to the
/// last one that is kept.
TEST(Sort, FewFirstOnesOfEveryType) {
  Rng rng(7);
  for (const DType dtype : kOrdered) {
    for (const Data data : kAllData) {
      for (const int64_t n : {1, 256, 319, 320, 321, 4097, 9001}) {
        const std::vector<AnyArray> keys = {keys_of(dtype, 2, n, data, rng)};
        for (const int64_t limit : {int64_t{0}, int64_t{1}, std::min<int64_t>(n, 37)}) {
          for (const bool descending : {false, true}) expect_sorted(keys, {descending, true, true, limit});
        }
      }
    }
  }
}

/// The last element that is kept, its equals before and after it, and a NaN or a zero of the other sign at each
/// position of a block.
TEST(Sort, ElementsLikeTheLastOneKept) {
  constexpr int64_t n = 8192;  // of which a sample is taken first
  const float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
  const float least = std::numeric_limits<float>::denorm_min();
  for (const float most : {0.0F, -0.0F, inf, -inf, nan, -nan, least, -least}) {
    for (const float other : {0.0F, -0.0F, 1.0F, -1.0F, inf, -inf, nan, -nan, least, -least}) {
      std::vector<float> x(n, most);
      for (int64_t i = 1; i < n; i += 61) x[static_cast<size_t>(i)] = other;
      const std::vector<AnyArray> keys = {AnyArray::from<float>(std::span(x), Shape{n})};
      for (const int64_t limit : {1, 34, 135}) {
        for (const bool descending : {false, true}) expect_sorted(keys, {descending, true, true, limit});
      }
    }
  }
}

/// Many rows of up to 64 elements are sorted by networks across lanes, the last ones with lanes that are not used.
TEST(Sort, ShortRowsOfEveryType) {
  Rng rng(8);
  const std::vector<int64_t> counts = {3, 4, 31, 64, 131};
  for (const DType dtype : kOrdered) {
    for (const Data data : kAllData) {
      for (const int64_t n : {1, 2, 3, 7, 8, 15, 16, 17, 24, 25, 31, 32, 33, 48, 49, 63, 64, 65}) {
        const std::vector<AnyArray> keys = {keys_of(dtype, rng.pick(counts), n, data, rng)};
        const int64_t limit = rng.chance(50) ? n : rng.between(0, n);
        const bool descending = rng.chance(50);
        expect_sorted(keys, {descending, false, true, limit});
        expect_sorted(keys, {descending, true, rng.chance(50), limit});
      }
    }
  }
}

/// A network that sorts all rows of zeros and ones sorts all rows.
TEST(Sort, RowsOfZerosAndOnes) {
  for (int64_t n = 1; n <= 13; ++n) {
    AnyArray keys = primitives::make_array({DType::bool_, {int64_t{1} << n, n}});
    bool* const to = static_cast<bool*>(keys.mutable_data());
    for (int64_t i = 0; i < (n << n); ++i) to[i] = (i / n >> i % n & 1) != 0;
    for (const int64_t limit : {int64_t{1}, n / 2, n}) {
      expect_sorted({keys}, {false, false, true, limit});
      expect_sorted({keys}, {true, true, true, limit});
    }
  }
}

// ---- the quicksort of keys alone

TEST(Sort, ValuesOfEverySize) {
  Rng rng(11);
  for (const DType dtype : {DType::i32, DType::u32, DType::f32, DType::i64, DType::u64, DType::f64}) {
    for (int64_t n = 0; n <= 600; ++n) {
      const std::vector<AnyArray> keys = {keys_of(dtype, 1, n, rng.pick(kAllData), rng)};
      expect_sorted(keys, {rng.chance(50), false, true, rng.chance(80) ? n : rng.between(n / 4, n)});
    }
    for (const int64_t n : {1021, 4099, 16411, 30011}) {
      for (const Data data : kAllData) expect_sorted({keys_of(dtype, 2, n, data, rng)}, {rng.chance(50), false, true});
    }
  }
}

/// Sorted runs, up and down, waves, two values, one that differs.
TEST(Sort, ValuesInPatterns) {
  constexpr int64_t n = 20011;
  const auto pattern = [](int kind, int64_t i) -> int64_t {
    switch (kind) {
      case 0:
        return std::min(i, n - i);  // organ pipe
      case 1:
        return std::max(i, n - i);
      case 2:
        return i % 2;
      case 3:
        return i % 1000;
      case 4:
        return i * 7919 % n;
      case 5:
        return i == n / 2 ? 0 : 1;
      case 6:
        return i == n / 3 ? 2 : 1;
      default:
        return i / 3;
    }
  };
  for (const DType dtype : {DType::i32, DType::u64, DType::f32, DType::f64}) {
    for (int kind = 0; kind < 8; ++kind) {
      AnyArray keys = primitives::make_array({dtype, {n}});
      visit_dtype(dtype, [&]<class T>() {
        if constexpr (!is_complex(dtype_of<T>))
          for (int64_t i = 0; i < n; ++i)
            static_cast<T*>(keys.mutable_data())[i] = static_cast<T>(static_cast<float>(pattern(kind, i)));
      });
      for (const bool descending : {false, true}) expect_sorted({keys}, {descending, false, true});
    }
  }
}

/// Keys whose sampled vectors have the least ones of all at each step, as a quicksort with these vectors finds them.
template <class T>
std::vector<T> bad_pivots(int64_t n, int64_t lanes) {
  constexpr T kUnknown = std::numeric_limits<T>::max();
  std::vector<T> keys(static_cast<size_t>(n), kUnknown);
  std::vector<size_t> left(static_cast<size_t>(n));
  std::iota(left.begin(), left.end(), size_t{0});
  T next = 0;
  while (static_cast<int64_t>(left.size()) > 16 * lanes) {
    const auto count = static_cast<int64_t>(left.size());
    const int64_t vectors = runtime::sampled_vectors(count, lanes);
    const T pivot = next + static_cast<T>(vectors / 2 * lanes);
    for (int64_t v = 0; v < vectors; ++v) {
      for (int64_t l = 0; l < lanes; ++l)
        keys[left[static_cast<size_t>(runtime::sampled_at(count, v, vectors, lanes) + l)]] = next++;
    }
    // With those of the last step that were not less than its pivot.
    std::erase_if(left, [&](size_t i) { return keys[i] < pivot; });
  }
  for (const size_t i : left)
    if (keys[i] == kUnknown) keys[i] = next++;
  return keys;
}

std::atomic<int64_t> deep_parts = 0;

template <class T>
void expect_deep_parts(const runtime::KeyQuicksort& quick) {
  constexpr int64_t n = 30011;
  const std::vector<T> bad = bad_pivots<T>(n, quick.lanes);
  const auto count = [&](std::vector<T> keys, int depth) {
    std::vector<T> to(static_cast<size_t>(n)), space(static_cast<size_t>(n));
    deep_parts = 0;
    const auto sort_deep = [](const runtime::KeyPart& p, const runtime::KeyOrder&) {
      ++deep_parts;
      T* const sorted = static_cast<T*>(p.to);
      if (p.in_space) std::copy_n(static_cast<const T*>(p.space), p.n, sorted);
      std::sort(sorted, sorted + p.n);
    };
    quick.sort(keys.data(), {to.data(), space.data(), n, false, depth}, {0, false, sort_deep});
    std::ranges::sort(keys);
    EXPECT_EQ(to, keys) << depth;
    return deep_parts.load();
  };
  std::vector<T> random(static_cast<size_t>(n));
  Rng rng(12);
  for (T& x : random) x = static_cast<T>(rng.next());
  EXPECT_EQ(count(random, 30), 0);
  EXPECT_EQ(count(random, 1), 2);
  EXPECT_GT(count(random, 3), 4);
  EXPECT_GT(count(bad, 30), 0);
  const std::vector<AnyArray> keys = {AnyArray::from<T>(std::span<const T>(bad), Shape{n})};
  for (const bool descending : {false, true}) expect_sorted(keys, {descending, false, true});
}

TEST(Sort, PartsWithBadPivots) {
  const runtime::KeyRoutines& keys = runtime::key_routines();
  if (keys.quick_integers[2].sort == nullptr) GTEST_SKIP() << "no vectors that compress";
  expect_deep_parts<int32_t>(keys.quick_integers[2]);
  expect_deep_parts<int64_t>(keys.quick_integers[3]);
}

/// Keys of up to 32 bits above the numbers of their elements are sorted by the quicksort if many of their digits vary,
/// by the radix sort otherwise.
TEST(Sort, IndicesOfEverySize) {
  Rng rng(13);
  for (const DType dtype : {DType::i8, DType::u16, DType::f16, DType::bf16, DType::i32, DType::u32, DType::f32}) {
    for (int64_t n = 0; n <= 600; ++n) {
      const std::vector<AnyArray> keys = {keys_of(dtype, 1, n, rng.pick(kAllData), rng)};
      expect_sorted(keys, {rng.chance(50), true, rng.chance(50), rng.chance(80) ? n : rng.between(n / 4, n)});
    }
    for (const int64_t n : {1021, 4099, 16411}) {
      for (const Data data : kAllData)
        expect_sorted({keys_of(dtype, 2, n, data, rng)}, {rng.chance(50), true, rng.chance(50)});
    }
  }
}

/// The digits that vary, of any number of them, and equal keys in the order of their numbers.
TEST(Sort, IndicesOfKeysWithDigitsThatVary) {
  Rng rng(14);
  for (const int64_t n : {500, 700, 9001, 30011}) {
    for (uint32_t digits = 0; digits < 16; ++digits) {
      uint32_t mask = 0;
      for (uint32_t d = 0; d < 4; ++d) mask |= (digits >> d & 1) << (8 * d);
      for (const DType dtype : {DType::u32, DType::i32, DType::f32}) {
        AnyArray keys = primitives::make_array({dtype, {n}});
        auto* const to = static_cast<uint32_t*>(keys.mutable_data());
        for (int64_t i = 0; i < n; ++i) to[i] = 0x3f804020 ^ (static_cast<uint32_t>(rng.next()) & mask * 0x8f);
        for (const bool descending : {false, true}) expect_sorted({keys}, {descending, true, true});
      }
    }
  }
}

/// A NaN or a -0 at each position of rows that are sorted in registers, which are sorted once more then.
TEST(Sort, RowsWithOneSpecialNumber) {
  Rng rng(15);
  for (const DType dtype : {DType::f32, DType::f64}) {
    for (const int64_t n : {25, 30, 31, 32, 57, 64}) {
      for (const double special : {std::numeric_limits<double>::quiet_NaN(), -0.0}) {
        for (const bool negated : {false, true}) {
          const double number = negated ? -special : special;
          AnyArray keys = primitives::make_array({dtype, {n + 1, n}});
          visit_dtype(dtype, [&]<class T>() {
            if constexpr (!is_complex(dtype_of<T>)) {
              T* const to = static_cast<T*>(keys.mutable_data());
              for (int64_t i = 0; i < n * (n + 1); ++i) {
                const int64_t row = i / n, column = i % n;
                to[i] = static_cast<T>(row == column ? static_cast<float>(number)
                                                     : static_cast<float>(static_cast<int64_t>(rng.next() % 9) - 4));
              }
            }
          });
          for (const bool descending : {false, true}) {
            expect_sorted({keys}, {descending, false, true});
            expect_sorted({keys}, {descending, false, true, n - 3});
          }
        }
      }
    }
  }
}

TEST(Sort, SeveralKeys) {
  Rng rng(4);
  for (int i = 0; i < 60; ++i) {
    const int64_t n = i % 3 == 0 ? 300 : rng.between(0, 60), rows = rng.between(1, 3);
    std::vector<AnyArray> keys;
    for (int64_t k = rng.between(2, 4); k > 0; --k)
      keys.push_back(keys_of(rng.pick(kOrdered), rows, n, rng.chance(70) ? Data::ties : Data::special, rng));
    expect_sorted(keys, {rng.chance(50), true, rng.chance(50), rng.between(0, n)});
    expect_sorted(keys, {rng.chance(50), false, true});
  }
}

TEST(Sort, ThreadsChangeNoBit) {
  Rng rng(5);
  constexpr int64_t kLong = (1 << 20) + 1;
  struct Case {
    std::vector<AnyArray> keys;
    SortOf form;
  };
  const std::vector<Case> cases = {{{keys_of(DType::f32, 1, kLong, Data::random, rng)}, {false, false, true}},
                                   {{keys_of(DType::f64, 1, kLong, Data::special, rng)}, {true, true, true}},
                                   {{keys_of(DType::f64, 1, kLong, Data::special, rng)}, {true, false, true}},
                                   {{keys_of(DType::u64, 1, kLong, Data::random, rng)}, {true, false, true}},
                                   {{keys_of(DType::i32, 1, kLong, Data::reversed, rng)}, {false, false, true}},
                                   {{keys_of(DType::i32, 1, kLong, Data::ties, rng)}, {false, false, true}},
                                   {{keys_of(DType::f32, 1, kLong, Data::constant, rng)}, {false, false, true}},
                                   {{keys_of(DType::f32, 1, kLong, Data::special, rng)}, {true, true, true}},
                                   {{keys_of(DType::u32, 1, kLong, Data::random, rng)}, {false, true, false}},
                                   {{keys_of(DType::f32, 1, kLong, Data::random, rng)}, {true, true, true}},
                                   {{keys_of(DType::i16, 1, kLong / 2 + 1, Data::random, rng)}, {false, true, false}},
                                   {{keys_of(DType::u8, 1, kLong / 2 + 1, Data::ties, rng),
                                     keys_of(DType::i32, 1, kLong / 2 + 1, Data::random, rng)},
                                    {false, true, true}},
                                   {{keys_of(DType::f32, 3000, 33, Data::random, rng)}, {false, true, true}},
                                   {{keys_of(DType::f32, 1, kLong, Data::random, rng)}, {true, true, true, 100}},
                                   {{keys_of(DType::f32, 1, kLong, Data::sorted, rng)}, {true, true, true, 3001}},
                                   {{keys_of(DType::f16, 2, kLong / 2 + 1, Data::ties, rng)}, {false, true, true, 50}},
                                   {{keys_of(DType::u64, 1, kLong, Data::one_digit, rng)}, {true, true, false, 9}},
                                   {{keys_of(DType::f64, 1, kLong, Data::special, rng)}, {true, true, true, 70000}}};
  for (const Case& c : cases) {
    const Graph g = sort_graph(c.keys, c.form);
    const auto want = reference::evaluate(g, c.keys);
    for (const int n : {1, 2, 7}) {
      const Threads threads(n);
      EXPECT_TRUE(same_bits(run_on(cpu(), g, c.keys), want)) << text(c.keys, c.form) << n;
    }
  }
}

// ---- without the routine

TEST(Sort, DevicesCompareShortRows) {
  Rng rng(6);
  for (const DType dtype : kOrdered) {
    for (const int64_t n : {0, 1, 2, 31, 65, 257}) {
      const std::vector<AnyArray> keys = {keys_of(dtype, 3, n, Data::special, rng)};
      expect_sorted(keys, {rng.chance(50), true, true, n - n / 4}, gpu_sim());
      expect_sorted(keys, {rng.chance(50), rng.chance(50), true}, gpu_sim());
    }
  }
  const int64_t n = 40;
  const std::vector<AnyArray> keys = {keys_of(DType::u8, 2, n, Data::ties, rng),
                                      keys_of(DType::f32, 2, n, Data::special, rng),
                                      keys_of(DType::f16, 2, n, Data::ties, rng)};
  for (const bool descending : {false, true}) expect_sorted(keys, {descending, true, true, 33}, gpu_sim());
}

TEST(Sort, RadixSortOfEveryTypeAndKindOfData) {
  Rng rng(7);
  const auto expect_equal = [](const std::vector<AnyArray>& keys, const SortOf& form) {
    const Graph g = sort_graph(keys, form);
    const Graph expanded = transform::expand_sort(g, {.most_compared = 0, .most_comparisons = 0});
    EXPECT_FALSE(transform::has_sort(expanded));
    EXPECT_TRUE(same_bits(reference::evaluate(expanded, keys), reference::evaluate(g, keys))) << text(keys, form);
  };
  for (const DType dtype : kOrdered) {
    for (const Data data : kAllData) {
      for (const int64_t n : {1, 2, 31, 32, 33, 97, 419}) {
        const bool values = rng.chance(70);
        expect_equal({keys_of(dtype, rng.between(1, 3), n, data, rng)},
                     {rng.chance(50), !values || rng.chance(40), values, rng.chance(50) ? n : rng.between(0, n)});
      }
    }
  }
  for (int i = 0; i < 30; ++i) {
    const int64_t n = rng.between(0, 120), rows = rng.between(0, 3);
    std::vector<AnyArray> keys;
    for (int64_t k = rng.between(2, 4); k > 0; --k)
      keys.push_back(keys_of(rng.pick(kOrdered), rows, n, rng.chance(70) ? Data::ties : Data::special, rng));
    expect_equal(keys, {rng.chance(50), true, rng.chance(50), rng.between(0, n)});
  }
}

// So many comparisons that the radix sort takes over.
TEST(Sort, DevicesSortLongRowsByDigits) {
  Rng rng(8);
  expect_sorted({keys_of(DType::f32, 2, 5801, Data::special, rng)}, {false, true, true}, gpu_sim());
  expect_sorted({keys_of(DType::f16, 1, 8209, Data::random, rng)}, {true, false, true}, gpu_sim());
  const std::vector<AnyArray> keys = {keys_of(DType::bool_, 1, 9001, Data::random, rng),
                                      keys_of(DType::i16, 1, 9001, Data::ties, rng)};
  expect_sorted(keys, {true, true, true, 100}, gpu_sim());
}

Graph permute_graph(DType dtype, const Shape& shape, int64_t limit) {
  Graph g;
  const Value x = g.add_input({dtype, shape}), positions = g.add_input({DType::i32, shape});
  g.set_outputs({g.append(primitives::get<primitives::Permute>(), {x, positions}, {{"limit", limit}}).result()});
  return g;
}

TEST(Sort, PermutesBatches) {
  Rng rng(10);
  for (const int64_t n : {0, 1, 5, 40}) {
    const int64_t limit = rng.between(0, n);
    const Graph one = permute_graph(DType::f32, {3, n}, limit), all = permute_graph(DType::f32, {4, 3, n}, limit);
    const std::vector<AnyArray> in = {bits_of(DType::f32, {4, 3, n}, rng), cases::orders_of_rows({4, 3, n}, rng)};
    const Graph batched =
        transform::vmap(one, std::vector<transform::BatchAxis>{0, 0}, 4, std::vector<transform::BatchAxis>{0});
    EXPECT_TRUE(same_bits(reference::evaluate(batched, in), reference::evaluate(all, in))) << n;
  }
  // Positions that all rows share.
  const Graph one = permute_graph(DType::f32, {6}, 4), all = permute_graph(DType::f32, {2, 6}, 4);
  const std::vector<AnyArray> in = {bits_of(DType::f32, {2, 6}, rng), cases::orders_of_rows({6}, rng)};
  const Graph batched =
      transform::vmap(one, std::vector<transform::BatchAxis>{0, std::nullopt}, 2, std::vector<transform::BatchAxis>{0});
  std::vector<int32_t> twice;
  for (int i = 0; i < 12; ++i) twice.push_back(in[1].data_as<int32_t>()[i % 6]);
  const std::vector<AnyArray> rows = {in[0], AnyArray::from(std::span<const int32_t>(twice), Shape{2, 6})};
  EXPECT_TRUE(same_bits(reference::evaluate(batched, in), reference::evaluate(all, rows)));
}

TEST(Sort, PermuteIsTheInverseOfAGather) {
  Rng rng(9);
  for (const DType dtype : {DType::f32, DType::f16, DType::u8, DType::i64}) {
    for (const int64_t n : {0, 1, 37, 300}) {
      const int64_t limit = rng.between(0, n);
      const Graph g = permute_graph(dtype, {3, n}, limit);
      const AnyArray positions = cases::orders_of_rows({3, n}, rng);
      const std::vector<AnyArray> in = {bits_of(dtype, {3, n}, rng), positions};
      const auto want = reference::evaluate(g, in);
      for (int64_t i = 0; i < 3 * n; ++i) {
        const int32_t position = positions.data_as<int32_t>()[i];
        if (position >= limit) continue;
        const size_t size = size_of(dtype);
        const auto element = [size](const AnyArray& a, int64_t k) {
          return static_cast<const char*>(a.data()) + static_cast<size_t>(k) * size;
        };
        EXPECT_EQ(std::memcmp(element(want[0], i / n * limit + position), element(in[0], i), size), 0);
      }
      EXPECT_TRUE(same_bits(run_on(cpu(), g, in), want)) << to_string(in[0].type());
      EXPECT_TRUE(same_bits(run_on(gpu_sim(), g, in), want)) << to_string(in[0].type());
    }
  }
}

}  // namespace
}  // namespace calque::test
