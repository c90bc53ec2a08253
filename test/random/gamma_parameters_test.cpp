// Parameters, shapes and errors of the gamma distribution and of those made of it.
#include <cmath>
#include <limits>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "calque/calque.h"

#include "jit/messages.h"

namespace calque::test {
namespace {

using testing::HasSubstr;

template <class T>
std::vector<double> numbers(const Array<T>& x) {
  return to<std::vector<double>>(cast<double>(x));
}

TEST(GammaShapes, MayBeEmptyAndScalar) {
  const random::Key key = random::key(1);
  EXPECT_EQ(random::gamma(key, 2.0, {3, 0}).shape(), Shape({3, 0}));
  EXPECT_EQ(random::dirichlet(key, Array<float>{1, 2}, {0}).shape(), Shape({0, 2}));
  EXPECT_EQ(random::dirichlet(key, Array<float>::zeros({0}), {3}).shape(), Shape({3, 0}));
  EXPECT_EQ(random::dirichlet(key, Array<float>{1, 2}, {}).shape(), Shape({2}));
  EXPECT_GT(random::gamma(key, 2.0, {}).item(), 0);
  static_assert(std::same_as<decltype(random::gamma(key, 2.0, {})), Array<float>>);
  // Element i depends on the key and on i alone.
  const auto many = random::gamma(key, 0.7, {100}), few = random::gamma(key, 0.7, {7, 3});
  EXPECT_TRUE(array_equal(many.at(range(0, 21)), few.reshape({21})));
}

TEST(GammaParameters, ThatAreNotPositiveGiveNaN) {
  const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  const random::Key key = random::key(1);
  const Array<float> bad{0, -0.0f, -0.5f, -1, -3, -inf, nan};
  const auto all_nan = [](const auto& x) { return all(isnan(x)).item(); };
  EXPECT_TRUE(all_nan(random::gamma(key, bad, {9, 7})));
  EXPECT_TRUE(all_nan(random::loggamma(key, bad, {9, 7})));
  EXPECT_TRUE(all_nan(random::chisquare(key, bad, {9, 7})));
  EXPECT_TRUE(all_nan(random::t(key, bad, {9, 7})));
  EXPECT_TRUE(all_nan(random::beta(key, bad, 1.0f, {9, 7})));
  EXPECT_TRUE(all_nan(random::beta(key, 1.0f, bad, {9, 7})));
  EXPECT_TRUE(all_nan(random::dirichlet(key, Array<float>{1, -1, 2}, {4})));
  EXPECT_TRUE(all_nan(grad([&](auto a) { return sum(random::gamma(key, a, {7})); })(bad)));
  EXPECT_EQ(random::gamma(key, inf, {}).item(), inf);
  EXPECT_EQ(random::loggamma(key, inf, {}).item(), inf);
}

TEST(GammaParameters, OfAnyMagnitudeGiveSamples) {
  const random::Key key = random::key(4);
  for (const double a : {1e-300, 1e-10, 1e-3, 1e10, 1e200}) {
    const std::vector<double> x = numbers(random::gamma<double>(key, a, {50}));
    for (const double v : x) EXPECT_TRUE(v >= 0 && std::isfinite(v)) << a;
    if (a > 1) {
      EXPECT_NEAR(x[0] / a, 1, 5 / std::sqrt(a) + 1e-12);
    }
  }
  // Most samples of a small parameter are too small for the type, their logarithms are not.
  for (const double v : numbers(random::loggamma<double>(key, 1e-6, {50}))) EXPECT_TRUE(std::isfinite(v) && v < 0);
}

TEST(GammaSamplesOf16Bits, AreRoundedSinglePrecision) {
  const random::Key key = random::key(2);
  const auto wide = random::gamma<float>(key, float16(2.5f), {100});
  EXPECT_TRUE(array_equal(random::gamma<float16>(key, float16(2.5f), {100}), cast<float16>(wide)));
  EXPECT_TRUE(array_equal(random::t<bfloat16>(key, bfloat16(3.0f), {100}),
                          cast<bfloat16>(random::t<float>(key, bfloat16(3.0f), {100}))));
}

TEST(GammaErrors, NameTheFunctionAndTheUsersLine) {
  const random::Key key = random::key(1);
  EXPECT_EQ(message_of<DTypeError>([&] { random::gamma<int>(key, 1.0, {4}); }),
            "random::gamma: needs a floating-point type, got i32" + line_below(0));
  EXPECT_EQ(message_of<ShapeError>([&] { random::loggamma(random::Key{Array<uint32_t>{1, 2, 3}}, 1.0, {4}); }),
            "random::loggamma: a key is u32[2], got u32[3]; vmap draws with many keys" + line_below(0));
  EXPECT_THAT(message_of<ShapeError>([&] { random::gamma(key, Array<float>{1, 2, 3}, {2}); }),
              HasSubstr("random::gamma: "));
  EXPECT_THAT(message_of<DTypeError>([&] { random::beta<float>(key, Array<double>{1, 2}, 1.0f, {2}); }),
              HasSubstr("random::beta: a value of f64 does not fit f32"));
  EXPECT_EQ(message_of<ShapeError>([&] { random::dirichlet(key, Array<float>(1.0f), {2}); }),
            "random::dirichlet: the last dimension of alpha counts the classes, got f32[]" + line_below(0));
  EXPECT_THAT(message_of<ShapeError>([&] { random::chisquare(key, 1.0, {-1}); }), HasSubstr("random::chisquare"));
  EXPECT_THAT(message_of<DTypeError>([&] { random::t<uint8_t>(key, 1.0, {2}); }), HasSubstr("random::t"));
}

}  // namespace
}  // namespace calque::test
