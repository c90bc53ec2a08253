// polygamma, zeta and the incomplete gamma and beta functions as a caller spells them: types, errors, batches. Values
// are in test/conformance.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>
#include <span>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "calque/calque.h"

namespace calque {
namespace {

using D = Array<double>;

template <class E, class F>
std::string message_of(F&& f) {
  try {
    f();
  } catch (const E& e) {
    return e.what();
  }
  return "no error";
}

TEST(SpecialFunctions, HaveThePromotedType) {
  static_assert(std::same_as<decltype(polygamma(2, Array<float>())), Array<float>>);
  static_assert(std::same_as<decltype(polygamma(2, Array<int32_t>())), Array<float>>);
  static_assert(std::same_as<decltype(igamma(Array<float>(), 2.0)), Array<float>>);
  static_assert(std::same_as<decltype(igamma(Array<float>(), D())), D>);
  static_assert(std::same_as<decltype(betainc(2, 3.0, Array<float>())), Array<float>>);
  static_assert(std::same_as<decltype(betainc(Array<int32_t>(), D(), 0.5)), D>);
  EXPECT_NEAR(betainc(2, 3.0, D({0.5})).item(), 0.6875, 1e-15);
}

TEST(SpecialFunctions, PolygammaOfEachOrder) {
  constexpr double kPi = std::numbers::pi;
  const D one({1.0});
  EXPECT_NEAR(polygamma(0, one).item(), -std::numbers::egamma, 1e-15);
  EXPECT_NEAR(polygamma(1, one).item(), kPi * kPi / 6, 1e-15);
  EXPECT_NEAR(polygamma(3, one).item(), std::pow(kPi, 4) / 15, 1e-14);
  // From psi(n, 1 - x) - (-1)^n psi(n, x) = (-1)^n pi d^n/dx^n cot(pi x)
  const D half({-0.5});
  EXPECT_NEAR(polygamma(2, half).item(), polygamma(2, 1.0 + half).item() + 16, 1e-13);
  // 34! does not fit in f32.
  EXPECT_NEAR(polygamma(40, Array<float>({20.0f})).item() / -4.3014669e-6f, 1, 1e-5);
  EXPECT_THAT(message_of<Error>([&] { polygamma(-1, one); }),
              testing::StartsWith("polygamma: the order must be in [0, 170], got -1 (special_functions_test.cpp:"));
  EXPECT_THROW(polygamma(171, one), Error);
}

TEST(SpecialFunctions, NameTheDerivativesThatAreMissing) {
  const D x({0.5});
  const auto by_a = grad([](auto a, auto v) { return sum(betainc(a, 2.0, v)); });
  EXPECT_THAT(message_of<GradError>([&] { by_a(x, x); }),
              testing::StartsWith("betainc: has no derivatives by a and b; differentiate by x alone"));
  const auto by_order = grad([](auto s, auto q) { return sum(zeta(s, q)); });
  EXPECT_THAT(message_of<GradError>([&] { by_order(x, x); }),
              testing::StartsWith("zeta: has no derivative by x, its first operand"));
  const auto f = [](auto v) { return sum(igamma(2.0, v)); };
  const auto third = grad([f](auto v) { return sum(grad([f](auto w) { return sum(grad(f)(w)); })(v)); });
  EXPECT_THAT(message_of<GradError>([&] { third(x); }),
              testing::StartsWith("igamma: has derivatives of order one and two"));
}

TEST(SpecialFunctions, OfBatches) {
  const D a({0.5, 2.0, 30.0}), x({0.25, 2.0, 40.0});
  const auto f = [](auto b, auto y) { return igamma(b, y) * betainc(b, 2.0, 0.5 * y / (1.0 + y)); };
  const D all = jit(vmap(f))(a, x);
  for (int i = 0; i < 3; ++i) {
    const double one = f(D({a(i)}), D({x(i)})).item();
    EXPECT_NEAR(all(i), one, 1e-14 * std::abs(one)) << i;
  }
}

// The distribution of large parameters is normal, nearly.
TEST(SpecialFunctions, BetaincOfLargeParameters) {
  for (const double a : {1e10, 1e14, 1e20}) {
    for (const double ratio : {1.0, 0.5, 1e6}) {
      const double b = ratio * a, mean = 1 / (1 + ratio), deviation = std::sqrt(mean * (1 - mean) / (a + b));
      for (const double t : {-1.0, 1.0}) {
        const double x = mean + t * deviation, normal = 0.5 * std::erfc(-(x - mean) / deviation * std::sqrt(0.5));
        if (deviation < 1e-12 * mean) continue;  // x has few of its digits
        EXPECT_NEAR(betainc(D({a}), D({b}), D({x})).item(), normal, 1e-3) << a << " " << b << " " << t;
      }
    }
    EXPECT_NEAR(betainc(D({a}), D({a}), D({0.5})).item(), 0.5, 1e-14) << a;
  }
  const Array<float> large{3.80036841e11F}, x{0.50000006F};
  EXPECT_NEAR(betainc(large, large, x).item(), 0.5413873, 1e-6);
  EXPECT_NEAR(betainc(cast<double>(large), cast<double>(large), cast<double>(x)).item(), 0.5413873, 1e-6);
}

// f32 is computed with fewer terms and nodes than f64.
TEST(SpecialFunctions, OfFloatsAreRounded) {
  std::mt19937 engine(3);
  const auto random = [&](double low, double high) {
    return static_cast<float>(std::pow(10, std::uniform_real_distribution<double>(low, high)(engine)));
  };
  std::vector<float> a, b, x, y;
  const auto add = [&](float a_, float b_, float x_, float y_) {
    a.push_back(a_);
    b.push_back(b_);
    x.push_back(x_);
    y.push_back(y_);
  };
  for (int k = 0; k < 2000; ++k) {
    add(random(-3, 3), random(-3, 3), random(-3, 3), random(-9, 0));
    add(random(-9, 9), random(-9, 9), random(-9, 9), 1 - random(-7, 0));
    add(random(-38, 38), random(-38, 38), random(-38, 38), random(-38, 0));
    const float p = random(-2, 6), q = random(-2, 6), t = random(-1, 0.8) * (k % 2 == 0 ? 1.0F : -1.0F);
    const float mean = p / (p + q), deviation = std::sqrt(mean * (1 - mean) / (p + q + 1));
    add(p, q, std::max(p + t * std::sqrt(p), 1e-6F), std::clamp(mean + t * deviation, 1e-30F, 1.0F));
  }
  const auto floats = [](const std::vector<float>& v) { return Array<float>::from(std::span<const float>(v)); };
  const auto doubles = [](const std::vector<float>& v) {
    const std::vector<double> wide(v.begin(), v.end());
    return D::from(std::span<const double>(wide));
  };
  const auto compare = [&](const char* name, const auto& f) {
    const Array<float> values = jit(f)(floats(a), floats(b), floats(x), floats(y));
    const D exact = jit(f)(doubles(a), doubles(b), doubles(x), doubles(y));
    for (int64_t k = 0; k < std::ssize(a); ++k) {
      const double want = exact(k), least = 0x1p-126;
      EXPECT_NEAR(values(k), want, 0x1.5p-23 * std::max(std::abs(want), least))
          << name << " of " << a[k] << ", " << b[k] << ", " << x[k] << ", " << y[k];
    }
  };
  compare("igamma", [](auto p, auto, auto v, auto) { return igamma(p, v); });
  compare("igammac", [](auto p, auto, auto v, auto) { return igammac(p, v); });
  compare("igamma_grad_a", [](auto p, auto, auto v, auto) { return igamma_grad_a(p, v); });
  compare("random_gamma_grad", [](auto p, auto, auto v, auto) { return random_gamma_grad(p, v); });
  compare("betainc", [](auto p, auto q, auto, auto v) { return betainc(p, q, v); });
}

}  // namespace
}  // namespace calque
