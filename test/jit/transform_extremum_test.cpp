// Derivatives of extrema compare elements with the extremum: some must be equal to the last bit, however the function
// is fused, contracted and rounded.
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "calque/calque.h"

#include "support/random/random.h"

namespace calque::test {
namespace {

namespace cq = calque;

template <Elem T>
cq::Array<T> numbers(int64_t n, uint64_t seed) {
  Rng rng(seed);
  std::vector<T> v;
  for (int64_t i = 0; i < n; ++i) v.push_back(static_cast<T>(static_cast<float>(rng.between(-1000, 1000)) / 500));
  return cq::Array<T>::from(std::span<const T>(v), cq::Shape{n});
}

template <Elem T>
int finite_gradients_of_sum_one(int64_t n) {
  int right = 0;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const auto x = numbers<T>(n, seed);
    // The derivative by the constant is one for any greatest element.
    const auto shifted = [](auto c, auto y) { return amax(y * y + y * 0.3 + c); };
    const auto g = cq::grad(shifted)(cq::Array<T>(static_cast<T>(0.25F)), x);
    right += std::abs(static_cast<float>(g.item()) - 1) < 0.01F;
  }
  return right;
}

TEST(TransformExtremum, FindsTheGreatestOfComputed16BitNumbers) {
  EXPECT_EQ(finite_gradients_of_sum_one<cq::float16>(7), 20);
  EXPECT_EQ(finite_gradients_of_sum_one<cq::bfloat16>(33), 20);
  EXPECT_EQ(finite_gradients_of_sum_one<float>(100), 20);
}

TEST(TransformExtremum, FindsItWhereTheValueIsComputedInSeveralKernels) {
  const auto f = [](auto x) {
    auto q = x * 1.37;
    auto r = q + x * x;
    return amax(r) * sum(q * q) + sum(r * q);
  };
  for (int64_t n : {3, 8, 17, 100}) {
    for (uint64_t seed = 0; seed < 10; ++seed) {
      const auto x = numbers<float>(n, seed);
      const auto fused = cq::grad(f)(x);
      const auto strict = cq::jit(cq::grad(f), {.strict = true})(x);
      EXPECT_TRUE(cq::allclose(fused, strict, 1e-4, 1e-4)) << fused << "\n" << strict;
    }
  }
}

TEST(TransformExtremum, FindsItWhereTheComputedNumbersAreResultsToo) {
  const auto f = cq::jit([](auto x) {
    const auto y = x * x * 0.3f + x * 1.7f;
    const auto most = amax(y);
    return std::tuple{y, most, sum(cq::cast<float>(y == most))};
  });
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const auto [y, most, count] = f(numbers<cq::float16>(60, seed));
    EXPECT_GE(count(), 1) << y << "\n" << most;
  }
}

TEST(TransformExtremum, FindsItInEveryExampleOfABatch) {
  const auto f = [](auto x) { return amin(x * x * 0.3 + x * 1.7); };
  const auto x = numbers<cq::float16>(60, 5).reshape({4, 15});
  const auto g = cq::vmap(cq::grad(f))(x);
  for (const cq::float16 v : g.host()) EXPECT_FALSE(std::isnan(static_cast<float>(v))) << g;
}

}  // namespace
}  // namespace calque::test
