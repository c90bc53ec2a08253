// rsqrt of f32 starts from the CPU's estimate: its whole range, and arguments for which the estimate is not usable.
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "calque/calque.h"

namespace calque::test {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

double ulps(float got, double want) {
  const auto rounded = static_cast<float>(want);
  return std::abs(got - want) / (std::nextafter(rounded, kInfinity) - rounded);
}

TEST(InverseRoot, IsWithinAnUlpOverAllExponents) {
  constexpr uint32_t kStep = 10007;
  std::vector<float> x;
  for (uint32_t bits = 1; bits < 0x7f800000U; bits += kStep) {
    x.emplace_back();
    std::memcpy(&x.back(), &bits, sizeof bits);
  }
  const auto f = jit([](auto v) { return rsqrt(v); });
  const auto y = f(Array<float>::from(x, {static_cast<int64_t>(x.size())}));
  double worst = 0;
  for (size_t i = 0; i < x.size(); ++i)
    worst = std::max(worst, ulps(y.host()[i], 1 / std::sqrt(static_cast<double>(x[i]))));
  EXPECT_LT(worst, 0.53);
}

TEST(InverseRoot, KnowsItsEnds) {
  const auto scalar = jit([](Tracer<float> v) { return rsqrt(v); });
  EXPECT_EQ(scalar(0.0f).item(), kInfinity);
  EXPECT_EQ(scalar(-0.0f).item(), -kInfinity);
  EXPECT_EQ(scalar(kInfinity).item(), 0.0f);
  EXPECT_EQ(scalar(4.0f).item(), 0.5f);
  EXPECT_TRUE(std::isnan(scalar(-1.0f).item()));
  EXPECT_TRUE(std::isnan(scalar(std::numeric_limits<float>::quiet_NaN()).item()));
}

// Arguments known to be far from zero take a shorter code path.
TEST(InverseRoot, OfASumOfSquaresIsAsExact) {
  const std::vector<float> x = {0.0f, 1e-30f, 1e-3f, 1.0f, 3.0f, 1e10f, 1.2e19f, 1e30f, kInfinity, -kInfinity};
  const auto f = jit([](auto v) { return rsqrt(v * v + 1e-6f); });
  const auto y = f(Array<float>::from(x, {static_cast<int64_t>(x.size())}));
  for (size_t i = 0; i < x.size(); ++i) {
    const float sum = std::fma(x[i], x[i], 1e-6f);
    if (std::isinf(sum))
      EXPECT_EQ(y.host()[i], 0.0f);
    else
      EXPECT_LT(ulps(y.host()[i], 1 / std::sqrt(static_cast<double>(sum))), 1.5) << x[i];
  }
  const auto nan = f(Array<float>::from(std::vector<float>{std::numeric_limits<float>::quiet_NaN()}, {1}));
  EXPECT_TRUE(std::isnan(nan.host()[0]));
}

TEST(InverseRoot, OfAnyNumberOfLanesIsTheSame) {
  const auto f = jit([](auto v) { return rsqrt(v); });
  const auto g = jit([](Tracer<float> v) { return rsqrt(v); });
  for (int64_t n = 1; n < 40; ++n) {
    std::vector<float> x(static_cast<size_t>(n));
    for (size_t i = 0; i < x.size(); ++i) x[i] = 0.1f + static_cast<float>(i) * 0.7f;
    const auto y = f(Array<float>::from(x, {n}));
    for (size_t i = 0; i < x.size(); ++i) EXPECT_EQ(y.host()[i], g(x[i]).item());
  }
}

}  // namespace
}  // namespace calque::test
