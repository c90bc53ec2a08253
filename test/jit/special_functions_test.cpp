// polygamma, zeta and the incomplete gamma and beta functions as a caller spells them: types, errors, batches. Values
// are in test/conformance.
#include <cmath>
#include <numbers>

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

}  // namespace
}  // namespace calque
