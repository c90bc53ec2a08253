// Each distribution at 10^6 draws under a fixed key: four moments, and the greatest distance from its distribution
// function (Kolmogorov and Smirnov).
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>
#include <vector>

#include <gtest/gtest.h>

#include "calque/calque.h"

namespace calque::test {
namespace {

constexpr int64_t kDraws = 1'000'000;

/// The distribution function, and mean, variance, skewness and kurtosis (of which infinity means that it is not
/// tested).
struct Law {
  std::function<double(double)> cdf;
  double mean, variance, skewness, kurtosis;
};

constexpr double kNone = std::numeric_limits<double>::infinity();
constexpr double kPi = std::numbers::pi;
double normal_cdf(double x) { return std::erfc(-x / std::numbers::sqrt2) / 2; }

/// Draws must fit the law. At this number of draws a right sampler exceeds the distance for one key in 5,000.
void expect_law(const char* name, std::vector<double> x, const Law& law) {
  const auto n = static_cast<double>(x.size());
  std::sort(x.begin(), x.end());
  double distance = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const double p = law.cdf(x[i]), below = static_cast<double>(i) / n;
    distance = std::max({distance, p - below, below + 1 / n - p});
  }
  EXPECT_LT(distance * std::sqrt(n), 2.15) << name;
  if (law.mean == kNone) return;
  double mean = 0;
  for (const double v : x) mean += v / n;
  double m2 = 0, m3 = 0, m4 = 0;
  for (const double v : x) {
    const double d = (v - mean) * (v - mean);
    m2 += d / n;
    m3 += d * (v - mean) / n;
    m4 += d * d / n;
  }
  EXPECT_NEAR(mean, law.mean, 5 * std::sqrt(law.variance / n)) << name;
  EXPECT_NEAR(m2, law.variance, 5 * law.variance * std::sqrt((law.kurtosis - 1) / n)) << name;
  EXPECT_NEAR(m3 / std::pow(m2, 1.5), law.skewness, 0.05 * law.kurtosis / 3) << name;
  EXPECT_NEAR(m4 / (m2 * m2), law.kurtosis, 0.05 * law.kurtosis * law.kurtosis / 9) << name;
}

template <class T>
std::vector<double> numbers(const Array<T>& x) {
  return to<std::vector<double>>(cast<double>(x));
}

template <class T>
class Distributions : public testing::Test {};
using Floats = testing::Types<float, double>;
TYPED_TEST_SUITE(Distributions, Floats);

TYPED_TEST(Distributions, AreThoseOfTheirNames) {
  using T = TypeParam;
  const std::vector<random::Key> k = random::split(random::key(2026), 10);
  const Shape n{kDraws};
  const auto unit = [](double x) { return std::clamp(x, 0.0, 1.0); };
  expect_law("uniform", numbers(random::uniform<T>(k[0], n)), {unit, 0.5, 1.0 / 12, 0, 1.8});
  expect_law("uniform of a range", numbers(random::uniform<T>(k[1], n, T(-3), T(5))),
             {[&](double x) { return unit((x + 3) / 8); }, 1, 64.0 / 12, 0, 1.8});
  expect_law("normal", numbers(random::normal<T>(k[2], n)), {normal_cdf, 0, 1, 0, 3});
  expect_law("exponential", numbers(random::exponential<T>(k[3], n)),
             {[](double x) { return -std::expm1(-x); }, 1, 1, 2, 9});
  expect_law(
      "gumbel", numbers(random::gumbel<T>(k[4], n)),
      {[](double x) { return std::exp(-std::exp(-x)); }, std::numbers::egamma, kPi * kPi / 6, 1.1395470994, 5.4});
  expect_law("laplace", numbers(random::laplace<T>(k[5], n)),
             {[](double x) { return x < 0 ? std::exp(x) / 2 : 1 - std::exp(-x) / 2; }, 0, 2, 0, 6});
  expect_law("logistic", numbers(random::logistic<T>(k[6], n)),
             {[](double x) { return 1 / (1 + std::exp(-x)); }, 0, kPi * kPi / 3, 0, 4.2});
  expect_law("cauchy", numbers(random::cauchy<T>(k[7], n)),
             {[](double x) { return 0.5 + std::atan(x) / kPi; }, kNone, kNone, kNone, kNone});
  const double low = normal_cdf(-1), width = normal_cdf(2) - low;
  expect_law("truncated normal", numbers(random::truncated_normal<T>(k[8], T(-1), T(2), n)),
             {[&](double x) { return unit((normal_cdf(x) - low) / width); }, kNone, kNone, kNone, kNone});
}

/// The regularized lower incomplete gamma function, by its series.
double gamma_cdf(double a, double x) {
  if (!(x > 0)) return 0;
  const double scale = std::exp(a * std::log(x) - x - std::lgamma(a + 1));
  double sum = 0, term = 1;
  for (int n = 1; term > 1e-9 * sum && n < 10000; ++n) {
    sum += term;
    term *= x / (a + n);
  }
  return std::min(1.0, scale * sum);
}
Law gamma_law(double a) {
  return {[a](double x) { return gamma_cdf(a, x); }, a, a, 2 / std::sqrt(a), 3 + 6 / a};
}

TYPED_TEST(Distributions, OfGammaAndItsRelatives) {
  using T = TypeParam;
  const std::vector<random::Key> k = random::split(random::key(2027), 10);
  const Shape n{kDraws};
  int next = 0;
  for (const double a : {0.3, 1.0, 2.5, 100.0}) {
    const auto x = random::gamma<T>(k[static_cast<size_t>(next++)], static_cast<T>(a), n);
    expect_law("gamma", numbers(x), gamma_law(static_cast<T>(a)));
  }
  // Logarithms whose exponentials are too small: x^a / gamma(a + 1) is the distribution function.
  const double tiny = static_cast<double>(T(0.001));
  expect_law(
      "loggamma", numbers(random::loggamma<T>(k[4], T(0.001), n)),
      {[tiny](double x) { return x < -50 ? std::exp(tiny * x - std::lgamma(tiny + 1)) : gamma_cdf(tiny, std::exp(x)); },
       kNone, kNone, kNone, kNone});
  expect_law("chisquare", numbers(random::chisquare<T>(k[5], T(3), n)),
             {[](double x) { return gamma_cdf(1.5, x / 2); }, 3, 6, std::sqrt(8.0 / 3), 7});
  expect_law("beta", numbers(random::beta<T>(k[6], T(0.5), T(0.5), n)),
             {[](double x) { return 2 / kPi * std::asin(std::sqrt(x)); }, 0.5, 0.125, 0, 1.5});
  expect_law("beta of unequal parameters", numbers(random::beta<T>(k[7], T(2), T(3), n)),
             {[](double x) { return x * x * (6 - 8 * x + 3 * x * x); }, 0.4, 0.04, 2.0 / 7, 33.0 / 14});
  expect_law("t", numbers(random::t<T>(k[8], T(3), n)),
             {[](double x) {
                const double u = x / std::sqrt(3.0);
                return 0.5 + (u / (1 + u * u) + std::atan(u)) / kPi;
              },
              kNone, kNone, kNone, kNone});
  const auto classes = random::dirichlet<T>(k[9], Array<T>{T(0.5), T(1), T(1), T(0.5)}, {kDraws / 4});
  // Each is of a beta distribution, and they sum to one.
  expect_law("dirichlet", numbers(Array<T>(classes.at(all, 2))),
             {[](double x) { return 1 - (1 - x) * (1 - x); }, 1.0 / 3, 1.0 / 18, 2 * std::sqrt(2.0) / 5, 2.4});
  for (const double total : numbers(sum(classes.at(range(0, 100)), 1))) EXPECT_NEAR(total, 1, 1e-6);
}

TEST(Distributions, OfPoisson) {
  const std::vector<random::Key> k = random::split(random::key(2028), 7);
  int next = 0;
  for (const double rate : {0.5, 3.0, 9.5, 10.0, 50.0, 1000.0}) {
    const auto x = random::poisson<int32_t>(k[static_cast<size_t>(next++)], rate, {kDraws});
    std::vector<double> counts(3000), values = numbers(x);
    double mean = 0, m2 = 0, m3 = 0, m4 = 0;
    for (const double v : values) ++counts.at(static_cast<size_t>(v)), mean += v / kDraws;
    for (const double v : values) {
      const double d = v - mean;
      m2 += d * d / kDraws, m3 += d * d * d / kDraws, m4 += d * d * d * d / kDraws;
    }
    double distance = 0, drawn = 0, expected = 0;
    for (size_t i = 0; i < counts.size(); ++i) {
      const auto n = static_cast<double>(i);
      drawn += counts[i] / kDraws;
      expected += std::exp(n * std::log(rate) - rate - std::lgamma(n + 1));
      distance = std::max(distance, std::abs(drawn - expected));
    }
    EXPECT_LT(distance * std::sqrt(kDraws), 2.15) << rate;
    const double kurtosis = 3 + 1 / rate;
    EXPECT_NEAR(mean, rate, 5 * std::sqrt(rate / kDraws));
    EXPECT_NEAR(m2, rate, 5 * rate * std::sqrt((kurtosis - 1) / kDraws));
    EXPECT_NEAR(m3 / std::pow(m2, 1.5), 1 / std::sqrt(rate), 0.05);
    EXPECT_NEAR(m4 / (m2 * m2), kurtosis, 0.05 * kurtosis * kurtosis / 9);
  }
}

TEST(Distributions, OfSixteenBitsRoundTheNumbers) {
  const random::Key key = random::key(1);
  const auto check = [&]<class T>(T, double step, double rounding) {
    for (const double x : numbers(random::uniform<T>(key, {4096}))) {
      EXPECT_TRUE(x >= 0 && x < 1 && std::fmod(x, step) == 0) << x;
    }
    const std::vector<double> x = numbers(random::normal<T>(key, {kDraws}));
    double sum = 0, squares = 0;
    for (const double v : x) sum += v, squares += v * v;
    EXPECT_NEAR(sum / kDraws, 0, rounding);
    EXPECT_NEAR(squares / kDraws, 1, 0.01);
  };
  check(float16(), 0x1p-10, 0.006);
  check(bfloat16(), 0x1p-7, 0.02);
}

TEST(Distributions, OfComplexNumbersHaveVarianceOne) {
  const auto z = random::normal<std::complex<double>>(random::key(4), {kDraws});
  expect_law("real part", numbers(real(z) * std::sqrt(2.0)), {normal_cdf, 0, 1, 0, 3});
  expect_law("imaginary part", numbers(imag(z) * std::sqrt(2.0)), {normal_cdf, 0, 1, 0, 3});
}

TEST(Distributions, OfIntegersAreEven) {
  const random::Key key = random::key(8);
  const auto check = [&]<class T>(const Array<T>& draws, double low, int64_t values) {
    std::vector<int64_t> counts(static_cast<size_t>(values));
    for (const double x : numbers(draws)) ++counts.at(static_cast<size_t>(x - low));
    const double expected = static_cast<double>(kDraws) / static_cast<double>(values);
    for (const int64_t c : counts) EXPECT_NEAR(static_cast<double>(c), expected, 5 * std::sqrt(expected));
  };
  check(random::randint<int32_t>(key, {kDraws}, -3, 10), -3, 13);
  check(random::randint<int64_t>(key, {kDraws}, 5, 12), 5, 7);
  check(random::randint<uint8_t>(key, {kDraws}, 0, 256), 0, 256);
  check(random::randint<int8_t>(key, {kDraws}, -128, 128), -128, 256);
  check(random::randint<uint64_t>(key, {kDraws}, 0, 11), 0, 11);
  EXPECT_TRUE(array_equal(random::randint<int>(key, {3}, 4, 4), Array<int>{4, 4, 4}));
  EXPECT_TRUE(array_equal(random::randint<int>(key, {3}, 4, -7), Array<int>{4, 4, 4}));
  // Every number of 32 bits, with a bound that the type cannot hold.
  const auto all = cast<double>(random::randint<int32_t>(key, {kDraws}, int64_t{INT32_MIN}, int64_t{INT32_MAX} + 1));
  EXPECT_NEAR(mean(all).item(), 0, 1e7);
  EXPECT_NEAR(stddev(all).item(), 0x1p32 / std::sqrt(12.0), 1e7);
}

TEST(Distributions, OfChoicesFollowTheirProbabilities) {
  const random::Key key = random::key(6);
  const auto share = [](const Array<bool>& x) { return sum(cast<double>(x)).item() / kDraws; };
  EXPECT_NEAR(share(random::bernoulli(key, 0.3, {kDraws})), 0.3, 0.0025);
  EXPECT_EQ(share(random::bernoulli(key, 0.0, {kDraws})), 0);
  EXPECT_EQ(share(random::bernoulli(key, 1.0, {kDraws})), 1);
  EXPECT_EQ(share(random::bernoulli(key, std::nan(""), {kDraws})), 0);
  EXPECT_NEAR(sum(cast<double>(random::rademacher<int32_t>(key, {kDraws}))).item() / kDraws, 0, 0.005);
  const auto drawn = random::categorical(key, Array<float>{0.0f, 1.0f, -INFINITY, 2.0f}, {kDraws});
  const double total = 1 + std::exp(1) + std::exp(2);
  EXPECT_NEAR(share(drawn == 0), 1 / total, 0.0025);
  EXPECT_NEAR(share(drawn == 1), std::exp(1) / total, 0.0025);
  EXPECT_EQ(share(drawn == 2), 0);
  EXPECT_NEAR(share(drawn == 3), std::exp(2) / total, 0.0025);
  // One draw for each row, and the axis anywhere.
  const Array<float> rows = {{50, 0, 0}, {0, 0, 50}};
  EXPECT_TRUE(array_equal(random::categorical(key, rows), Array<int32_t>{0, 2}));
  EXPECT_TRUE(array_equal(random::categorical(key, rows.T(), {2}, 0), Array<int32_t>{0, 2}));
  EXPECT_TRUE(array_equal(random::categorical(key, rows, {3, 2}), Array<int32_t>{{0, 2}, {0, 2}, {0, 2}}));
}

TEST(Distributions, HaveTheDerivativesOfTheirFormulas) {
  const random::Key key = random::key(3);
  const auto u = random::uniform<double>(key, {7});
  const auto shifted = [&](auto low, auto high) { return sum(random::uniform<double>(key, {7}, low, high)); };
  const auto [dl, dh] = grad(shifted, argnums<0, 1>)(-2.0, 3.0);
  EXPECT_NEAR(dl.item(), 7 - sum(u).item(), 1e-12);
  EXPECT_NEAR(dh.item(), sum(u).item(), 1e-12);
  const auto truncated = [&](auto high) { return sum(random::truncated_normal<double>(key, -1.0, high, {7})); };
  const double h = 1e-6;
  const double difference = (truncated(Array<double>(1 + h)).item() - truncated(Array<double>(1 - h)).item()) / (2 * h);
  EXPECT_NEAR(grad(truncated)(1.0).item(), difference, 1e-6);
}

}  // namespace
}  // namespace calque::test
