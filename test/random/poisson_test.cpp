// The Poisson distribution: JAX's numbers, the same everywhere, bad rates.
#include <cmath>
#include <limits>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "calque/calque.h"

#include "jit/messages.h"
#include "support/trace_eval.h"

namespace calque::test {
namespace {

using testing::HasSubstr;
using I32 = Array<int32_t>;

const Array<float>& rates() {
  static const Array<float> all{0, 0.5f, 3, 9.9f, 10, 50, 1000};
  return all;
}

/// JAX 0.10.2 under key(2026).
const I32& jax_numbers() {
  static const I32 numbers{
      {0, 0, 2, 10, 12, 36, 971}, {0, 0, 4, 14, 11, 47, 956}, {0, 0, 4, 5, 8, 47, 1014}, {0, 0, 2, 8, 9, 44, 1003}};
  return numbers;
}

TEST(Poisson, NumbersAreThoseOfJax) {
  const random::Key key = random::key(2026);
  EXPECT_TRUE(array_equal(random::poisson<int32_t>(key, rates(), {4, 7}), jax_numbers()));
  // Elements wait for each other: the last number that each accepts until all have.
  const Array<int64_t> fifty{62, 47, 38, 58, 55, 36, 43, 50, 48, 49, 54, 52,
                             47, 40, 55, 43, 69, 39, 46, 47, 53, 64, 54, 46};
  EXPECT_TRUE(array_equal(random::poisson<int64_t>(key, 50.0, {24}), fifty));
  const Array<int16_t> small{{0, 0, 2, 10}, {0, 1, 3, 8}, {0, 1, 3, 11}, {0, 1, 4, 7}};
  EXPECT_TRUE(array_equal(random::poisson<int16_t>(key, Array<float>{0, 0.5f, 3, 9.9f}, {4, 4}), small));
}

TEST(Poisson, NumbersAreTheSameOnEveryDeviceAndInBatches) {
  const random::Key key = random::key(2026);
  const auto f = [](auto key, auto rate) { return random::poisson<int32_t>(key, rate, {4, 7}); };
  EXPECT_TRUE(array_equal(jit(f, {.device = gpu_sim()})(key, rates()), jax_numbers()));
  EXPECT_TRUE(array_equal(jit(f, {.strict = true})(key, rates()), jax_numbers()));
  const std::vector<AnyArray> inputs = {key.data.any(), rates().any()};
  const AnyArray reference = results_of(inputs, [&](std::span<const Handle> in) {
    const random::BasicKey<Tracer<uint32_t>> traced{Tracer<uint32_t>(in[0])};
    return Handles{f(traced, Tracer<float>(in[1])).handle()};
  })[0];
  EXPECT_TRUE(array_equal(I32(reference), jax_numbers()));
  const Array<uint32_t> keys = stack({random::key(3).data, key.data}, 0);
  const Array<float> both = stack({rates() * 2.0f, rates()}, 0);
  const auto by_key = vmap(f, {.in_axes = {0, none}})(random::Key{keys}, rates());
  const auto by_rate = vmap(f, {.in_axes = {none, 0}})(key, both);
  const auto by_both = vmap(f)(random::Key{keys}, both);
  EXPECT_TRUE(array_equal(by_key[0], f(random::key(3), rates())));
  EXPECT_TRUE(array_equal(by_key[1], jax_numbers()));
  EXPECT_TRUE(array_equal(by_rate[0], f(key, Array<float>(both[0]))));
  EXPECT_TRUE(array_equal(by_rate[1], jax_numbers()));
  EXPECT_TRUE(array_equal(by_both[0], f(random::key(3), Array<float>(both[0]))));
  EXPECT_TRUE(array_equal(by_both[1], jax_numbers()));
}

TEST(Poisson, OfBadRatesIsMinusOne) {
  const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  const random::Key key = random::key(1);
  EXPECT_TRUE(array_equal(random::poisson(key, Array<float>{-1, -inf, nan, -1e-30f, 0, -0.0f}, {6}),
                          I32{-1, -1, -1, -1, 0, 0}));
  EXPECT_EQ(random::poisson<uint8_t>(key, -1, {}).item(), 255);
  EXPECT_EQ(random::poisson<int8_t>(key, 1000, {}).item(), 127);
  EXPECT_EQ(random::poisson(key, inf, {}).item(), INT32_MAX);
  EXPECT_EQ(random::poisson(key, 3, {2, 0}).shape(), Shape({2, 0}));
  EXPECT_EQ(random::poisson(key, 30.0, {}).shape(), Shape());
  static_assert(std::same_as<decltype(random::poisson(key, 3.0, {})), I32>);
}

TEST(Poisson, HasNoDerivative) {
  const auto f = [](auto rate) { return sum(cast<double>(random::poisson(random::key(1), rate, {5})) * rate); };
  const double drawn = sum(cast<double>(random::poisson(random::key(1), 20.0, {5}))).item();
  EXPECT_EQ(grad(f)(20.0).item(), drawn);
}

TEST(PoissonErrors, NameTheFunctionAndTheUsersLine) {
  const random::Key key = random::key(1);
  EXPECT_EQ(message_of<DTypeError>([&] { random::poisson<float>(key, 1.0, {4}); }),
            "random::poisson: needs an integer type, got f32" + line_below(0));
  EXPECT_EQ(message_of<DTypeError>([&] { random::poisson(key, std::complex<float>(1, 0), {4}); }),
            "random::poisson: the rate must be real, got c64" + line_below(0));
  EXPECT_THAT(message_of<ShapeError>([&] { random::poisson(key, Array<float>{1, 2, 3}, {2}); }),
              HasSubstr("random::poisson: "));
}

}  // namespace
}  // namespace calque::test
