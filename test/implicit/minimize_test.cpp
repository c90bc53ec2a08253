// minimize_newton and fixed_point: values, derivatives against differences, and what does not converge.
#include <gtest/gtest.h>

#include "calque/calque.h"

#include "differences.h"

namespace calque::test {
namespace {

using D = Array<double>;
using F = Array<float>;

template <class A>
struct Line {
  A slope, offset;
};

const auto log_of = [](auto a) { return minimize_newton([](auto x, auto b) { return exp(x) - b * x; }, 0.0, a); };

TEST(MinimizeNewton, OfANumber) {
  EXPECT_NEAR(log_of(3.0).item(), std::log(3), 1e-14);
  EXPECT_NEAR(grad(log_of)(3.0).item(), 1.0 / 3, 1e-14);
  EXPECT_NEAR(grad(grad(log_of))(3.0).item(), -1.0 / 9, 1e-14);
  EXPECT_NEAR(hessian(log_of)(3.0).item(), -1.0 / 9, 1e-14);
  EXPECT_NEAR(minimize_newton([](auto x, auto a) { return square(x - a); }, 0.0f, 3.0f).item(), 3, 1e-6);
}

TEST(MinimizeNewton, OfTreesAgainstDifferences) {
  const D x{0, 1, 2, 3, 4};
  const auto fit = [x](auto y) {
    const auto loss = [](auto l, auto x, auto y) {
      return sum(log(cosh(l.slope * x + l.offset - y))) + 0.1 * square(l.slope);
    };
    return minimize_newton(loss, Line{0.0, 0.0}, x, y);
  };
  const D y{0.5, 1.7, 1.9, 4.1, 3.3};
  check_derivatives([&](auto v) { return square(fit(v).slope) + sin(fit(v).offset); }, y);
  // By what the objective captures, too.
  const auto captured = [x](auto v) {
    const auto l =
        minimize_newton([x, v](auto l) { return sum(log(cosh(l.slope * x + l.offset - v))) + 0.1 * square(l.slope); },
                        Line{zeros<double>({}), zeros<double>({})});
    return square(l.slope) + sin(l.offset);
  };
  check_derivatives(captured, y);
}

TEST(MinimizeNewton, DescendsWhereTheHessianIsIndefinite) {
  const auto banana = [](auto x) { return 100.0 * square(x[1] - x[0] * x[0]) + square(1.0 - x[0]); };
  EXPECT_TRUE(allclose(minimize_newton(banana, D{-1.2, 1}), D{1, 1}, 1e-9, 1e-9));
  EXPECT_TRUE(allclose(minimize_newton(banana, D{0, 5}), D{1, 1}, 1e-9, 1e-9));  // indefinite there
  // Near a maximum of cos Newton's method alone goes to it.
  EXPECT_NEAR(minimize_newton([](auto x) { return cos(x); }, 0.5).item(), std::acos(-1.0), 1e-12);
  const auto [x, info] = minimize_newton_and_info(banana, D{-1.2, 1});
  EXPECT_TRUE(info.converged.item());
  EXPECT_LE(info.residual.item(), 1e-9);
  EXPECT_LE(info.iterations.item(), 60);
}

TEST(MinimizeNewton, OfADegenerateMinimum) {
  EXPECT_NEAR(minimize_newton([](auto x) { return square(square(x)); }, 1.0).item(), 0, 1e-9);
}

TEST(MinimizeNewton, IsNanWithoutAMinimum) {
  EXPECT_TRUE(std::isnan(minimize_newton([](auto x) { return x; }, 1.0).item()));
  EXPECT_TRUE(std::isnan(minimize_newton([](auto x) { return -square(x); }, 1.0).item()));
  EXPECT_TRUE(std::isnan(minimize_newton([](auto x) { return log(x); }, -1.0).item()));
  // The gradient is zero: a stationary point.
  EXPECT_EQ(minimize_newton([](auto x) { return -square(x); }, 0.0).item(), 0);
}

TEST(MinimizeNewton, OfNothingIsNothing) {
  const D none = minimize_newton([](auto x) { return sum(x * x); }, D::zeros({0}));
  EXPECT_EQ(none.shape(), (Shape{0}));
}

// ---- fixed_point

constexpr SolveOptions kFine{.tolerance = 1e-15};

TEST(FixedPoint, OfANumber) {
  const auto f = [](auto a) { return fixed_point([](auto x, auto b) { return cos(b * x); }, 0.5, a, kFine); };
  EXPECT_NEAR(f(1.0).item(), 0.7390851332151607, 1e-14);
  // x = cos(a x): dx = -sin(a x) (x da + a dx)
  const double x = f(1.0).item(), s = std::sin(x);
  EXPECT_NEAR(grad(f)(1.0).item(), -s * x / (1 + s), 1e-13);
  EXPECT_NEAR(fixed_point([](auto x) { return sqrt(x + 2.0f); }, 1.0f).item(), 2, 1e-4);
}

TEST(FixedPoint, OfTreesAgainstDifferences) {
  const auto f = [](auto a) {
    const auto p = fixed_point([](auto p, auto b) { return Line{0.3 * sin(p.offset) + b * 0.1, 0.2 * p.slope * b}; },
                               Line{zeros<double>({3}), zeros<double>({3})}, a, kFine);
    return sum(square(p.slope) + p.offset);
  };
  check_derivatives(f, D{0.5, 1.5, -1});
  EXPECT_TRUE(allclose(vmap(grad(f))(D{{0.5, 1.5, -1}, {2, 0, 1}})[1], grad(f)(D{2, 0, 1}), 1e-13, 1e-13));
}

TEST(FixedPoint, OfCapturedTracers) {
  const auto f = [](auto a) { return fixed_point([a](auto x) { return 0.5 * (x + a / x); }, zeros<double>({}) + 1.0); };
  EXPECT_NEAR(grad(f)(9.0).item(), 1.0 / 6, 1e-13);
  EXPECT_NEAR(grad(grad(f))(9.0).item(), -1.0 / 108, 1e-13);
}

TEST(FixedPoint, IsNanWhereItDiverges) {
  EXPECT_TRUE(std::isnan(fixed_point([](auto x) { return 2.0 * x + 1.0; }, 1.0).item()));
  EXPECT_TRUE(std::isnan(fixed_point([](auto x) { return -x; }, 1.0).item()));
  const auto [x, info] = fixed_point_and_info([](auto x) { return 0.5 * x; }, 1.0, {.max_iterations = 3});
  EXPECT_EQ(x.item(), 0.125);
  EXPECT_EQ(info.residual.item(), 0.125);
  EXPECT_EQ(info.iterations.item(), 3);
  EXPECT_FALSE(info.converged.item());
}

TEST(FixedPoint, OfNothingIsNothing) {
  EXPECT_EQ(fixed_point([](auto x) { return x * 0.5; }, D::zeros({0, 2})).shape(), (Shape{0, 2}));
}

}  // namespace
}  // namespace calque::test
