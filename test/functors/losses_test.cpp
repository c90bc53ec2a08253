// Robust losses against their formulas and against differences, and corrected residuals.
#include <cmath>
#include <functional>
#include <vector>

#include <gtest/gtest.h>

#include "calque/calque.h"

namespace calque::test {
namespace {

using D = Array<double>;

/// A loss as function of s with its formula.
template <class Loss>
void check_loss(const char* name, const Loss& loss, const std::function<double(double)>& formula) {
  const auto first = grad(loss);
  const auto second = grad(first);
  const std::vector<double> points = {0, 1e-12, 0.01, 0.5, 1, 3.9, 4.1, 30, 1e4};
  for (const double s : points) {
    SCOPED_TRACE(name + (" at " + std::to_string(s)));
    EXPECT_NEAR(loss(D(s)).item(), formula(s), 2e-15 * (1 + std::abs(formula(s))));
    EXPECT_TRUE(std::isfinite(first(s).item()));
    EXPECT_TRUE(std::isfinite(second(s).item()));
    EXPECT_TRUE(std::isfinite(grad(second)(s).item()));
    const double h = 1e-3 * (s + 0.01);
    if (s < h) continue;
    const auto difference = [&](const auto& f) {
      return (8 * (f(s + h) - f(s - h)) - (f(s + 2 * h) - f(s - 2 * h))) / (12 * h);
    };
    EXPECT_NEAR(first(s).item(), difference(formula), 1e-8);
    EXPECT_NEAR(second(s).item(), difference([&](double x) { return first(x).item(); }), 1e-8);
  }
}

TEST(Losses, FollowTheirFormulas) {
  const double a = 2, b = a * a;
  check_loss(
      "huber", [](auto s) { return huber(s, 2.0); }, [=](double s) { return s <= b ? s : 2 * a * std::sqrt(s) - b; });
  check_loss(
      "soft_l1", [](auto s) { return soft_l1(s, 2.0); }, [=](double s) { return 2 * b * (std::sqrt(1 + s / b) - 1); });
  check_loss("cauchy", [](auto s) { return cauchy(s, 2.0); }, [=](double s) { return b * std::log1p(s / b); });
  check_loss("arctan", [](auto s) { return arctan(s, 2.0); }, [=](double s) { return a * std::atan2(s, a); });
  check_loss(
      "tukey", [](auto s) { return tukey(s, 2.0); },
      [=](double s) { return s <= b ? b / 3 * (1 - std::pow(1 - s / b, 3)) : b / 3; });
  check_loss(
      "tolerant", [](auto s) { return tolerant(s, 2.0, 0.5); },
      [=](double s) {
        const double x = (s - a) / 0.5, c = 0.5 * std::log1p(std::exp(-a / 0.5));
        return (x > 36.7 ? s - a : 0.5 * std::log1p(std::exp(x))) - c;
      });
}

TEST(Losses, DerivativesAtZero) {
  const auto slope = [](auto loss) { return grad(loss)(0.0).item(); };
  const auto curvature = [](auto loss) { return grad(grad(loss))(0.0).item(); };
  EXPECT_EQ(slope([](auto s) { return huber(s, 2.0); }), 1);
  EXPECT_EQ(curvature([](auto s) { return huber(s, 2.0); }), 0);
  EXPECT_EQ(slope([](auto s) { return soft_l1(s, 2.0); }), 1);
  EXPECT_NEAR(curvature([](auto s) { return soft_l1(s, 2.0); }), -0.125, 1e-15);
  EXPECT_EQ(slope([](auto s) { return cauchy(s, 2.0); }), 1);
  EXPECT_NEAR(curvature([](auto s) { return cauchy(s, 2.0); }), -0.25, 1e-15);
  EXPECT_EQ(slope([](auto s) { return arctan(s, 2.0); }), 1);
  EXPECT_EQ(curvature([](auto s) { return arctan(s, 2.0); }), 0);
  EXPECT_EQ(slope([](auto s) { return tukey(s, 2.0); }), 1);
  EXPECT_NEAR(curvature([](auto s) { return tukey(s, 2.0); }), -0.5, 1e-15);
}

TEST(Losses, OfArraysAndTypes) {
  const Array<float> s = {0, 1, 9};
  EXPECT_TRUE(array_equal(huber(s, 2), Array<float>{0, 1, 8}));
  EXPECT_TRUE(array_equal(huber(9.0, D{1, 2}), D{5, 8}));
  EXPECT_TRUE(
      allclose(vmap([](auto s, auto a) { return tukey(s, a); })(D{1, 5}, D{2, 2}), D{37.0 / 48, 4.0 / 3}, 1e-15));
}

TEST(Losses, CorrectedTermsHaveTheCostsGradientAndCurvature) {
  const auto residuals = [](auto x) { return stack(std::vector{x[0] * x[1], sin(x[0]) + 1.5, x[1] * x[1]}, 0); };
  const D x = {0.7, -1.1};
  const auto losses = std::tuple{[](auto s) { return cauchy(s, 0.8); }, [](auto s) { return tolerant(s, 5.0, 2.0); },
                                 [](auto s) { return huber(s, 0.5); }};
  const auto check = [&](const auto& loss) {
    const auto cost = [&](auto x) { return 0.5 * loss(sum(square(residuals(x)))); };
    const auto [r, j] = residuals_and_jacobians(residuals)(x);
    const auto [rc, jc] = corrected(loss, r, j);
    EXPECT_TRUE(allclose(matmul(rc, std::get<0>(jc)), grad(cost)(x), 1e-13, 1e-13));
    // The Hessian of rho without the residuals' own second derivatives, if the correction applies.
    const double s = sum(square(r)).item(), first = grad(loss)(s).item(), second = grad(grad(loss))(s).item();
    const D along = matmul(r, std::get<0>(j));
    const D plain = first * matmul(std::get<0>(j).T(), std::get<0>(j));
    const D hessian = second > 0 ? plain + 2 * second * outer(along, along) : plain;
    EXPECT_TRUE(allclose(matmul(std::get<0>(jc).T(), std::get<0>(jc)), hessian, 1e-12, 1e-12)) << second;
    // In a trace, and at a residual of 0.
    const auto [rt, jt] = jit([&](auto r, auto j) { return corrected(loss, r, std::tuple{j}); })(r, std::get<0>(j));
    EXPECT_TRUE(allclose(rt, rc, 1e-14, 1e-14));
    const auto [rz, jz] = corrected(loss, D{0, 0}, std::tuple{D{{1, 2}, {3, 4}}});
    EXPECT_TRUE(array_equal(rz, D{0, 0}));
    EXPECT_TRUE(allclose(std::get<0>(jz), std::sqrt(grad(loss)(0.0).item()) * D{{1, 2}, {3, 4}}, 1e-15));
  };
  std::apply([&](const auto&... loss) { (check(loss), ...); }, losses);
}

}  // namespace
}  // namespace calque::test
