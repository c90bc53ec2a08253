// Keys, bits, where numbers may be drawn, and misuse.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "calque/calque.h"

#include "jit/messages.h"
#include "primitives/elementwise/random_bits.h"

namespace calque::test {
namespace {

using testing::HasSubstr;
using U32 = Array<uint32_t>;

template <class T>
std::vector<T> elements(const Array<T>& x) {
  return to<std::vector<T>>(x);
}

/// The bits of element i, one after the other.
uint64_t expected_bits(const random::Key& key, uint64_t i) {
  const auto [x0, x1] =
      primitives::Threefry::encrypt(key.data(0), key.data(1), static_cast<uint32_t>(i >> 32), static_cast<uint32_t>(i));
  return uint64_t{x0} << 32 | x1;
}

TEST(RandomKey, OfASeedIsItsTwoWords) {
  EXPECT_TRUE(array_equal(random::key(42).data, U32{0, 42}));
  EXPECT_TRUE(array_equal(random::key(0x123456789abcdef0).data, U32{0x12345678, 0x9abcdef0}));
  const auto traced = jit([](auto seed) { return random::key(seed); });
  EXPECT_TRUE(array_equal(traced(uint64_t{0x123456789abcdef0}).data, random::key(0x123456789abcdef0).data));
  EXPECT_TRUE(array_equal(traced(int32_t{-1}).data, U32{0, 0xffffffff}));
}

TEST(RandomKey, SplitAndFoldInGiveKeysOfTheCounter) {
  const random::Key key = random::key(7);
  const std::vector<random::Key> three = random::split(key, 3);
  ASSERT_EQ(three.size(), 3u);
  for (size_t i = 0; i < 3; ++i) {
    const uint64_t bits = expected_bits(key, i);
    EXPECT_TRUE(array_equal(three[i].data, U32{static_cast<uint32_t>(bits >> 32), static_cast<uint32_t>(bits)}));
    EXPECT_TRUE(array_equal(random::fold_in(key, i).data, three[i].data));
  }
  const auto [a, b] = random::split(key);
  EXPECT_TRUE(array_equal(a.data, three[0].data) && array_equal(b.data, three[1].data));
  EXPECT_TRUE(random::split(key, 0).empty());
}

template <class T>
class RandomBits : public testing::Test {};
using Words = testing::Types<uint8_t, uint16_t, uint32_t, uint64_t>;
TYPED_TEST_SUITE(RandomBits, Words);

TYPED_TEST(RandomBits, DependOnTheNumberOfTheElementAlone) {
  const random::Key key = random::key(0xfeedface12345678);
  for (const Shape& shape : {Shape{}, Shape{0}, Shape{1}, Shape{31}, Shape{3, 0, 2}, Shape{5, 7, 3}, Shape{300007}}) {
    const auto got = elements(random::bits<TypeParam>(key, shape).reshape({shape.num_elements()}));
    for (size_t i = 0; i < got.size(); ++i) {
      const uint64_t bits = expected_bits(key, i);
      const uint64_t want = sizeof(TypeParam) == 8 ? bits : (bits >> 32 ^ bits) & 0xffffffff;
      ASSERT_EQ(got[i], static_cast<TypeParam>(want)) << i << " of " << shape;
    }
  }
}

TEST(RandomBits64, AreSlicesAndPartsOfKernelsWithoutMemory) {
  const random::Key key = random::key(3);
  const auto total = jit([](auto k) { return sum(random::normal<float>(k, {1000003})); });
  const std::string plan = total.lower(key).plan().str();
  EXPECT_THAT(plan, HasSubstr("workspace 0 bytes")) << plan;
  EXPECT_NEAR(total(key).item(), sum(random::normal<float>(key, {1000003})).item(), 1e-2);
  const auto part = jit([](auto k) { return random::bits<uint32_t>(k, {50, 20}).at(all, 3); });
  EXPECT_TRUE(array_equal(part(key), random::bits<uint32_t>(key, {50, 20}).at(all, 3)));
}

TEST(RandomKeys, AreBatchedAndCarried) {
  const random::Key key = random::key(11);
  const auto draw = [](auto k) { return random::normal<float>(k, {5}); };
  const auto with = [draw](auto k, auto i) { return draw(random::fold_in(k, i)); };
  const auto each = vmap(with, {.in_axes = {none, 0}})(key, Array<int32_t>::arange(4));
  const auto loop = jit([draw](auto k) {
    return scan(
               [draw](auto carry, auto) {
                 auto [next, now] = random::split(carry);
                 return std::pair{next, draw(now)};
               },
               k, iota<int32_t>(4))
        .second;
  })(key);
  random::Key carry = key;
  for (int i = 0; i < 4; ++i) {
    EXPECT_TRUE(array_equal(each[i], draw(random::fold_in(key, i))));
    const auto [next, now] = random::split(carry);
    EXPECT_TRUE(array_equal(loop[i], draw(now)));
    carry = next;
  }
  // A leaf with many keys.
  const U32 many = stack({random::key(1).data, random::key(2).data}, 0);
  const auto rows = vmap(draw)(random::Key{many});
  EXPECT_TRUE(array_equal(rows[1], draw(random::key(2))));
}

TEST(RandomKeys, GiveTheSameNumbersEverywhere) {
  const random::Key key = random::key(5);
  const auto draws = [](auto k) {
    return std::tuple{random::uniform<double>(k, {33, 3}), random::uniform<float16>(k, {70}),
                      random::uniform<float>(k, {70}, -0.7f, 0.3f), random::randint<int64_t>(k, {70}, -5, 1000)};
  };
  const auto outside = draws(key);
  const auto [a, b, c, d] = jit(draws)(key);
  const auto [e, f, g, h] = jit(draws, {.device = gpu_sim()})(key);
  const auto [i, j, k, l] = jit(draws, {.fast_math = true})(key);
  EXPECT_TRUE(array_equal(a, std::get<0>(outside)) && array_equal(e, a) && array_equal(i, a));
  EXPECT_TRUE(array_equal(b, std::get<1>(outside)) && array_equal(f, b) && array_equal(j, b));
  EXPECT_TRUE(array_equal(c, std::get<2>(outside)) && array_equal(g, c) && array_equal(k, c));
  EXPECT_TRUE(array_equal(d, std::get<3>(outside)) && array_equal(h, d) && array_equal(l, d));
}

TEST(RandomKeys, DrawFloatsAnd32BitIntegersByDefault) {
  const random::Key key = random::key(5);
  static_assert(std::same_as<decltype(random::normal(key, {3})), Array<float>>);
  static_assert(std::same_as<decltype(random::uniform(key, {3}, -1.0, 1.0)), Array<float>>);
  static_assert(std::same_as<decltype(random::bits(key, {3})), U32>);
  static_assert(std::same_as<decltype(random::randint(key, {3}, 0, 6)), Array<int32_t>>);
  EXPECT_TRUE(array_equal(random::normal(key, {3}), random::normal<float>(key, {3})));
}

TEST(RandomBitGenerator, ServesTheStandardLibrary) {
  static_assert(std::uniform_random_bit_generator<random::BitGenerator>);
  const random::Key key = random::key(9);
  random::BitGenerator generator(key);
  const std::vector<uint64_t> all = elements(random::bits<uint64_t>(key, {100}));
  for (const uint64_t want : all) EXPECT_EQ(generator(), want);
  std::vector<int> deck(52);
  std::iota(deck.begin(), deck.end(), 0);
  std::vector<int> shuffled = deck;
  std::shuffle(shuffled.begin(), shuffled.end(), generator);
  EXPECT_NE(shuffled, deck);
  std::sort(shuffled.begin(), shuffled.end());
  EXPECT_EQ(shuffled, deck);
  const double x = std::normal_distribution<double>()(generator);
  EXPECT_TRUE(std::isfinite(x));
  EXPECT_THROW(random::BitGenerator(random::Key{U32{1, 2, 3}}), ShapeError);
}

TEST(RandomErrors, NameTheFunctionAndTheUsersLine) {
  const random::Key key = random::key(1);
  EXPECT_EQ(message_of<ShapeError>([&] { random::uniform<float>(random::Key{U32{1, 2, 3}}, {4}); }),
            "random::uniform: a key is u32[2], got u32[3]; vmap draws with many keys" + line_below(0));
  EXPECT_EQ(message_of<DTypeError>([&] { random::uniform<int>(key, {4}); }),
            "random::uniform: needs a floating-point type, got i32" + line_below(0));
  EXPECT_EQ(message_of<DTypeError>([&] { random::bits<float>(key, {4}); }),
            "random::bits: needs an unsigned integer type, got f32" + line_below(0));
  EXPECT_EQ(message_of<DTypeError>([&] { random::randint<float>(key, {4}, 0, 5); }),
            "random::randint: needs an integer type, got f32" + line_below(0));
  EXPECT_EQ(message_of<DTypeError>([&] { random::randint<int>(key, {4}, 0.5, 5); }),
            "random::randint: the bounds must be integers" + line_below(0));
  EXPECT_THAT(message_of<ShapeError>([&] { random::normal<float>(key, {-1}); }), HasSubstr("random::normal"));
  EXPECT_THAT(message_of<ShapeError>([&] { random::categorical(key, Array<float>::zeros({3, 0})); }),
              HasSubstr("no class to draw"));
  EXPECT_THAT(message_of<ShapeError>([&] { random::categorical(key, Array<float>::zeros({3, 4}), Shape{}); }),
              HasSubstr("the shape must end with"));
  EXPECT_THAT(message_of<ShapeError>([&] { random::bernoulli(key, Array<float>{0.5f, 0.5f, 0.5f}, {2}); }),
              HasSubstr("does not broadcast"));
  EXPECT_THAT(message_of<ShapeError>([&] { random::split(key, -1); }), HasSubstr("random::split"));
  EXPECT_THAT(message_of<DTypeError>([&] { random::fold_in(key, 0.5); }), HasSubstr("random::fold_in"));
}

}  // namespace
}  // namespace calque::test
