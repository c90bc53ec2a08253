// root: values, derivatives against differences, trees, captures, and what does not converge.
#include <gtest/gtest.h>

#include "calque/calque.h"

#include "differences.h"

namespace calque::test {
namespace {

using D = Array<double>;
using F = Array<float>;

template <class A, class B = A>
struct Point {
  A x;
  B y;
};
template <class A>
struct Circle {
  A center, radius;
};

const auto cube_root = [](auto a) { return root([](auto x, auto b) { return x * x * x - b; }, 1.0, a); };

TEST(Root, OfANumber) {
  EXPECT_NEAR(cube_root(8.0).item(), 2, 1e-14);
  EXPECT_NEAR(jit(cube_root)(-27.0).item(), -3, 1e-14);
  EXPECT_NEAR(root([](auto x) { return cos(x) - x; }, 0.0).item(), 0.7390851332151607, 1e-15);
  EXPECT_NEAR(root([](auto x) { return x - 5.0; }, 0.0).item(), 5, 1e-15);
}

TEST(Root, OfFloats) {
  const F x = root([](auto x, auto a) { return x * x * x - a; }, 1.0f, 8.0f);
  EXPECT_NEAR(x.item(), 2, 1e-6);
  const auto f = [](auto a) { return root([](auto x, auto b) { return x * x - b; }, 1.0f, a); };
  EXPECT_NEAR(grad(f)(9.0f).item(), 1.0 / 6, 1e-6);
  const Array<float16> half =
      root([](auto x, auto a) { return x * x - a; }, Array<float16>{float16(1.0f), float16(3.0f)},
           Array<float16>{float16(4.0f), float16(9.0f)});
  EXPECT_NEAR(static_cast<float>(half[0].item()), 2, 4e-3);
  EXPECT_NEAR(static_cast<float>(half[1].item()), 3, 6e-3);
}

TEST(Root, HasDerivativesOfEveryOrder) {
  const double a = 8;
  EXPECT_NEAR(grad(cube_root)(a).item(), 1.0 / 12, 1e-15);
  EXPECT_NEAR(grad(grad(cube_root))(a).item(), -2.0 / 9 * std::pow(a, -5.0 / 3), 1e-15);
  EXPECT_NEAR(grad(grad(grad(cube_root)))(a).item(), 10.0 / 27 * std::pow(a, -8.0 / 3), 1e-15);
  EXPECT_NEAR(jvp(cube_root, std::tuple{a}, std::tuple{3.0}).second.item(), 0.25, 1e-14);
  EXPECT_NEAR(hessian(cube_root)(a).item(), -2.0 / 9 * std::pow(a, -5.0 / 3), 1e-15);
}

/// x of n unknowns with a + sin(x) coupled to its neighbours.
const auto coupled = [](auto a) {
  return root([](auto x, auto p) { return 3.0 * x + sin(roll(x, 1, 0)) * p - exp(-p * x); }, zeros<double>({4}), a);
};

TEST(Root, OfAVectorAgainstDifferences) {
  const D a{0.3, 1.1, 0.7, 2.0}, x = jit(coupled)(a);
  EXPECT_TRUE(allclose(3.0 * x + sin(roll(x, 1, 0)) * a, exp(-a * x), 1e-12, 1e-12));
  check_derivatives([](auto p) { return sum(square(coupled(p)) + coupled(p)); }, a);
}

TEST(Root, JacobiansAgree) {
  const D a{0.3, 1.1, 0.7, 2.0};
  const D forward = jacfwd(coupled)(a), reverse = jacrev(coupled)(a);
  EXPECT_EQ(forward.shape(), (Shape{4, 4}));
  EXPECT_TRUE(allclose(forward, reverse, 1e-12, 1e-12));
}

TEST(Root, OfAMatrixIsInItsShape) {
  const D a{{4, 1}, {0, 9}};
  const D x = root([](auto x, auto b) { return matmul(x, x) - b; }, D::eye(2), a);
  EXPECT_TRUE(allclose(matmul(x, x), a, 1e-12, 1e-12));
}

TEST(Root, OfTreesByTrees) {
  // Where two circles cross.
  const auto cross_at = [](auto first, auto second) {
    return root(
        [](auto p, auto c, auto d) {
          const auto off = [](auto p, auto c) {
            return square(p.x - c.center.at(0)) + square(p.y - c.center.at(1)) - square(c.radius);
          };
          return Point{off(p, c), off(p, d)};
        },
        Point{1.0, 1.0}, first, second);
  };
  const Circle<D> left{{0, 0}, 5.0}, right{{6, 0}, 5.0};
  const auto p = cross_at(left, right);
  EXPECT_NEAR(p.x.item(), 3, 1e-12);
  EXPECT_NEAR(p.y.item(), 4, 1e-12);
  const auto [by_left, by_right] = grad([&](auto c, auto d) { return cross_at(c, d).y; }, argnums<0, 1>)(left, right);
  // y = sqrt(r^2 - x^2) with x = (36 + r^2 - s^2) / 12
  EXPECT_NEAR(by_left.radius.item(), (5 - 3 * 5.0 / 6) / 4, 1e-12);
  EXPECT_NEAR(by_right.radius.item(), (3 * 5.0 / 6) / 4, 1e-12);
  EXPECT_NEAR(by_left.center[1].item() + by_right.center[1].item(), 1, 1e-12);
}

TEST(Root, MixesElementTypes) {
  const auto f = [](auto a) {
    const auto p = root([](auto p, auto b) { return Point{p.x * p.x - cast<float>(b), p.y - b * cast<double>(p.x)}; },
                        Point<float, double>{1.0f, 1.0}, a);
    return p.y;
  };
  EXPECT_NEAR(f(4.0).item(), 8, 1e-6);
  EXPECT_NEAR(grad(f)(4.0).item(), 3, 1e-5);
}

TEST(Root, OfCapturedTracers) {
  const auto f = [](auto a) { return root([a](auto x) { return x * x - a; }, zeros<double>({}) + 1.0); };
  EXPECT_NEAR(grad(f)(9.0).item(), 1.0 / 6, 1e-14);
  EXPECT_NEAR(grad(grad(f))(9.0).item(), -1.0 / 108, 1e-14);
  EXPECT_NEAR(jvp(f, std::tuple{9.0}, std::tuple{1.0}).second.item(), 1.0 / 6, 1e-14);
  EXPECT_TRUE(allclose(vmap(grad(f))(D{1, 4, 9}), D{0.5, 0.25, 1.0 / 6}));
  // Captured and a parameter, through a loop.
  const auto sums = [](auto a) {
    return scan([a](auto s,
                    auto v) { return std::pair{s + root([a](auto x, auto v) { return x * a - v; }, s, v), 0.0}; },
                zeros<double>({}), D{1, 2, 3})
        .first;
  };
  EXPECT_NEAR(grad(sums)(2.0).item(), -6.0 / 4, 1e-13);
}

TEST(Root, HasNoDerivativeByTheFirstGuess) {
  const auto f = [](auto start) { return root([](auto x) { return x * x - 2.0; }, start); };
  EXPECT_EQ(grad(f)(1.0).item(), 0);
  EXPECT_EQ(jvp(f, std::tuple{1.0}, std::tuple{1.0}).second.item(), 0);
  // Of a guess that is a parameter, too, there is that of the parameter.
  const auto both = [](auto a) { return root([](auto x, auto b) { return x * x - b; }, a, a); };
  EXPECT_NEAR(grad(both)(4.0).item(), 0.25, 1e-14);
}

TEST(Root, HalvesStepsThatAreTooLong) {
  // Newton's method alone diverges from 3.
  EXPECT_NEAR(root([](auto x) { return atan(x); }, 3.0).item(), 0, 1e-12);
  // Rosenbrock's equations from the usual start.
  const auto banana = [](auto x) { return stack({10.0 * (x[1] - x[0] * x[0]), 1.0 - x[0]}, 0); };
  EXPECT_TRUE(allclose(root(banana, D{-1.2, 1}), D{1, 1}, 1e-12, 1e-12));
}

TEST(Root, GoesOnWhereTheJacobianIsSingular) {
  // At the start the first column of the Jacobian is zero.
  const auto f = [](auto x) { return stack({x[0] * x[0] + x[1] - 2.0, x[1] + x[0] * x[0] * x[0] - 2.0}, 0); };
  const D x = root(f, D{0, 1});
  EXPECT_TRUE(allclose(f(x), D{0, 0}, 1e-9, 1e-9));
  // At a double root it converges, slowly, to the value; its derivative does not exist.
  const auto square_of = [](auto a) { return root([](auto x, auto b) { return (x - b) * (x - b); }, 1.0, a); };
  EXPECT_NEAR(square_of(0.5).item(), 0.5, 1e-9);
}

TEST(Root, IsNanWhereThereIsNone) {
  const auto f = [](auto a) { return root([](auto x, auto b) { return x * x + b; }, 1.0, a); };
  EXPECT_TRUE(std::isnan(f(1.0).item()));
  EXPECT_TRUE(std::isnan(grad(f)(1.0).item()));
  EXPECT_TRUE(std::isnan(root([](auto x) { return log(x); }, -1.0).item()));
  EXPECT_TRUE(std::isnan(root([](auto x) { return x * x - 1.0; }, 0.0).item()));  // no direction
  const auto [x, info] = root_and_info([](auto x) { return x * x + 1.0; }, 1.0, {.max_iterations = 7});
  EXPECT_FALSE(info.converged.item());
  EXPECT_LE(info.iterations.item(), 7);
  EXPECT_FALSE(std::isnan(x.item()));
  EXPECT_DOUBLE_EQ(info.residual.item(), x.item() * x.item() + 1);
}

TEST(Root, TellsHowItEnded) {
  const auto [x, info] = root_and_info([](auto x, auto a) { return x * x - a; }, 1.0, 4.0);
  EXPECT_NEAR(x.item(), 2, 1e-14);
  EXPECT_TRUE(info.converged.item());
  EXPECT_GE(info.iterations.item(), 4);
  EXPECT_LE(info.iterations.item(), 8);
  EXPECT_LE(info.residual.item(), 1e-14);
  const auto [rough, after] = root_and_info([](auto x, auto a) { return x * x - a; }, 1.0, 4.0, {.tolerance = 0.1});
  EXPECT_LT(after.iterations.item(), info.iterations.item());
  EXPECT_NEAR(rough.item(), 2, 0.05);
  // The first guess may be the root.
  const auto [same, none] = root_and_info([](auto x) { return x * x; }, 0.0);
  EXPECT_EQ(same.item(), 0);
  EXPECT_EQ(none.iterations.item(), 0);
  EXPECT_TRUE(none.converged.item());
  // x has the same derivative; what else there is has none.
  const auto sum_of_all = [](auto a) {
    const auto [x, info] = root_and_info([](auto x, auto b) { return x * x - b; }, 1.0, a);
    return x + info.residual;
  };
  EXPECT_NEAR(grad(sum_of_all)(4.0).item(), 0.25, 1e-14);
}

TEST(Root, OfNothingIsNothing) {
  const auto f = [](auto x, auto a) { return root([](auto x, auto b) { return x * b - 1.0; }, x, a); };
  const D none = f(D::zeros({0}), 2.0);
  EXPECT_EQ(none.shape(), (Shape{0}));
  EXPECT_EQ(grad([&](auto a) { return sum(f(zeros<double>({0, 3}), a)); })(2.0).item(), 0);
  // Empty leaves beside others.
  const auto p =
      root([](auto p, auto a) { return Point{p.x * 1.0, p.y * p.y - a}; }, Point<D>{D::zeros({0}), D(1.0)}, 4.0);
  EXPECT_EQ(p.x.shape(), (Shape{0}));
  EXPECT_NEAR(p.y.item(), 2, 1e-14);
}

TEST(Root, WorksInsideEverything) {
  EXPECT_NEAR(grad(checkpoint(cube_root))(8.0).item(), 1.0 / 12, 1e-14);
  const auto branch = [](auto a) { return cond(a > 1.0, cube_root, [](auto b) { return b * 2.0; }, a); };
  EXPECT_TRUE(allclose(vmap(grad(branch))(D{8, 0.5}), D{1.0 / 12, 2}, 1e-13, 1e-13));
  // The y whose root is a is the square of a.
  const auto square_by_roots = [](auto a) {
    return root([](auto y, auto b) { return root([](auto x, auto c) { return x * x - c; }, 0.0 * y + 1.0, y) - b; },
                1.0, a);
  };
  EXPECT_NEAR(square_by_roots(3.0).item(), 9, 1e-10);
  EXPECT_NEAR(grad(square_by_roots)(3.0).item(), 6, 1e-9);
  EXPECT_NEAR(grad(grad(square_by_roots))(3.0).item(), 2, 1e-8);
  // Where reverse mode of the steps themselves would be needed there is none.
  const auto loop = [](auto a) {
    return while_loop([](auto s) { return s.first < 3; },
                      [](auto s) { return std::pair{s.first + 1, cube_root(s.second) + 1.0}; }, std::pair{0, a})
        .second;
  };
  EXPECT_NEAR(jvp(loop, std::tuple{8.0}, std::tuple{1.0}).second.item(), difference_along(jit(loop), D(8.0), D(1.0)),
              1e-10);
}

TEST(Root, TakesIntegersAndStaticValuesAsParameters) {
  const auto f = [](auto x, auto a, auto n, int m) { return pow(x, cast<double>(n)) * m - a; };
  const auto by = [&](auto a) { return root(f, 1.0, a, 3, static_arg(2)); };
  EXPECT_NEAR(by(16.0).item(), 2, 1e-12);
  EXPECT_NEAR(grad(by)(16.0).item(), 1.0 / 24, 1e-12);
}

TEST(Root, TakesUpToAnyNumberOfParameters) {
  const auto f = [](auto x, auto... p) { return x - (0.0 + ... + p); };
  EXPECT_EQ(root(f, 0.0).item(), 0);
  EXPECT_NEAR(root(f, 0.0, 1.0, 2.0).item(), 3, 1e-14);
  EXPECT_NEAR(root(f, 0.0, 1.0, 2.0, 3.0).item(), 6, 1e-14);
  EXPECT_NEAR(root(f, 0.0, 1.0, 2.0, 3.0, 4.0, {.tolerance = 1e-9}).item(), 10, 1e-14);
  EXPECT_NEAR(root(f, 0.0, 1.0, 2.0, 3.0, 4.0, 5.0).item(), 15, 1e-14);
}

}  // namespace
}  // namespace calque::test
