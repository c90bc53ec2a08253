// custom_root, custom_linear_solve and cg: users' solvers, differentiated by their equations.
#include <gtest/gtest.h>

#include "calque/calque.h"

#include "differences.h"

namespace calque::test {
namespace {

using D = Array<double>;
using C = Array<std::complex<double>>;

template <class A, class B>
struct Pair {
  A x;
  B y;
};

/// By bisection, which has no useful derivative of its own.
const auto bisect = [](auto f, auto start) {
  const auto halve = [f](auto, auto s) {
    const auto [low, high] = s;
    const auto middle = 0.5 * (low + high);
    const auto below = f(middle) < 0.0;
    return std::pair{where(below, middle, low), where(below, high, middle)};
  };
  return fori_loop(0, 100, halve, std::pair{0.0 * start, start}).first;
};
const auto divide = [](auto g, auto b) { return b / g(ones<double>({})); };
const auto cube_root = [](auto a) {
  return custom_root([a](auto x) { return x * x * x - a; }, zeros<double>({}) + 100.0, bisect, divide);
};

TEST(CustomRoot, OfABisection) {
  EXPECT_NEAR(jit(cube_root)(8.0).item(), 2, 1e-14);
  EXPECT_NEAR(grad(cube_root)(8.0).item(), 1.0 / 12, 1e-14);
  EXPECT_NEAR(grad(grad(cube_root))(8.0).item(), -2.0 / 9 * std::pow(8, -5.0 / 3), 1e-14);
  EXPECT_NEAR(jvp(cube_root, std::tuple{8.0}, std::tuple{1.0}).second.item(), 1.0 / 12, 1e-14);
  EXPECT_TRUE(allclose(vmap(grad(cube_root))(D{1, 8, 27}), pow(D{1, 8, 27}, -2.0 / 3) / 3.0, 1e-13, 1e-13));
  // On data alone.
  EXPECT_NEAR(custom_root([](auto x) { return x * x - 2.0; }, 2.0, bisect, divide).item(), std::sqrt(2), 1e-14);
}

TEST(CustomRoot, GivesFurtherValues) {
  const auto f = [](auto a) {
    const auto [x, steps] = custom_root(
        [a](auto x) { return x * x - a; }, zeros<double>({}) + 1.0,
        [](auto f, auto x) {
          return while_loop([f](auto s) { return abs(f(s.first)) > 1e-13; },
                            [f](auto s) { return std::pair{s.first - f(s.first) / (2.0 * s.first), s.second + 1}; },
                            std::pair{x, 0});
        },
        divide);
    return std::pair{x, steps};
  };
  const auto [value, slope] = value_and_grad(f)(9.0);
  EXPECT_NEAR(value.first.item(), 3, 1e-14);
  EXPECT_GE(value.second.item(), 4);
  EXPECT_NEAR(slope.item(), 1.0 / 6, 1e-14);
}

TEST(CustomRoot, OfTreesAgainstDifferences) {
  const auto f = [](auto a) {
    const auto equation = [a](auto p) { return Pair{exp(p.x) - a, p.y * p.x - 1.0}; };
    const auto solve = [a](auto, auto) { return Pair{log(a), 1.0 / log(a)}; };
    // Triangular: g(x, y) = (e^x x', x y' + y x').
    const auto tangents = [](auto g, auto b) {
      const auto first = b.x / g(Pair{ones<double>({3}), zeros<double>({3})}).x;
      const auto moved = g(Pair{first, zeros<double>({3})}).y, unit = g(Pair{zeros<double>({3}), ones<double>({3})}).y;
      return Pair{first, (b.y - moved) / unit};
    };
    const auto p = custom_root(equation, Pair{ones<double>({3}), ones<double>({3})}, solve, tangents);
    return sum(p.x * sin(p.y));
  };
  check_derivatives(f, D{1.5, 2.5, 4});
}

/// Jacobi's iteration, for matrices with a great diagonal, symmetric or not.
const auto jacobi = [](auto matvec, auto b) {
  const auto diagonal = [&] {
    return vmap([matvec](auto unit) { return sum(unit * matvec(unit)); })(eye<double>(3));
  }();
  return fori_loop(0, 60, [&](auto x) { return x + (b - matvec(x)) / diagonal; }, b / diagonal);
};
const auto by_jacobi = [](auto a, auto b) {
  return custom_linear_solve([a](auto x) { return matmul(a, x); }, b, jacobi, jacobi);
};

TEST(CustomLinearSolve, EqualsSolve) {
  const D a{{9, 1, -2}, {0.5, 8, 1}, {-1, 2, 7}}, b{1, 2, 3};
  EXPECT_TRUE(allclose(jit(by_jacobi)(a, b), linalg::solve(a, b), 1e-13, 1e-13));
  const auto loss_of = [](auto solve) { return [solve](auto a, auto b) { return sum(sin(solve(a, b))); }; };
  const auto dense = loss_of([](auto a, auto b) { return linalg::solve(a, b); });
  const auto mine = loss_of(by_jacobi);
  const auto [da, db] = grad(mine, argnums<0, 1>)(a, b);
  const auto [ea, eb] = grad(dense, argnums<0, 1>)(a, b);
  EXPECT_TRUE(allclose(da, ea, 1e-12, 1e-12));
  EXPECT_TRUE(allclose(db, eb, 1e-12, 1e-12));
  EXPECT_TRUE(allclose(jacfwd(by_jacobi)(a, b), jacrev(by_jacobi)(a, b), 1e-12, 1e-12));
  check_derivatives([&](auto m) { return mine(m, zeros<double>({3}) + D{1, 2, 3}); }, a);
  check_derivatives([&](auto s) { return mine(zeros<double>({3, 3}) + D{{9, 1, -2}, {0.5, 8, 1}, {-1, 2, 7}}, s); }, b);
  const D sides{{1, 2, 3}, {4, 5, 6}}, matrices = stack({a, transpose(a)}, 0);
  EXPECT_TRUE(
      allclose(vmap(by_jacobi, {.in_axes = {none, 0}})(a, sides)[1], linalg::solve(a, D(sides[1])), 1e-12, 1e-12));
  EXPECT_TRUE(allclose(vmap(by_jacobi)(matrices, sides)[1], linalg::solve(transpose(a), D(sides[1])), 1e-12, 1e-12));
  EXPECT_TRUE(allclose(vmap(grad(mine))(matrices, sides)[1], grad(dense)(transpose(a), D(sides[1])), 1e-12, 1e-12));
}

TEST(CustomLinearSolve, OfSymmetricMatricesSolvesOnce) {
  const auto f = [](auto a) {
    return sum(custom_linear_solve([a](auto x) { return matmul(a + a.T(), x); }, zeros<double>({3}) + D{1, 2, 3},
                                   jacobi, symmetric));
  };
  check_derivatives(f, D{{9, 1, -2}, {0.5, 8, 1}, {-1, 2, 7}});
}

TEST(CustomLinearSolve, OfComplexNumbers) {
  // The transpose is not the adjoint.
  const auto over = [](auto matvec, auto b) { return b / matvec(b * 0.0 + 1.0); };
  const auto f = [over](auto a) {
    return real(custom_linear_solve([a](auto z) { return a * z; }, zeros<std::complex<double>>({}) + 2.0, over, over));
  };
  const std::complex<double> a(1, 2), want = -2.0 / (a * a);
  EXPECT_NEAR(std::abs(grad(f)(a).item() - want), 0, 1e-14);
}

TEST(CustomLinearSolve, HasForwardModeWithoutATranspose) {
  const auto f = [](auto a) {
    return custom_linear_solve([a](auto x) { return a * x; }, zeros<double>({}) + 6.0,
                               [](auto m, auto b) { return b / m(ones<double>({})); });
  };
  EXPECT_NEAR(jvp(f, std::tuple{2.0}, std::tuple{1.0}).second.item(), -1.5, 1e-14);
  EXPECT_THROW(grad(f)(2.0), GradError);
}

// ---- cg

const auto by_cg = [](auto a, auto b) { return linalg::cg([a](auto x) { return matmul(a, x); }, b); };

TEST(ConjugateGradients, EqualSolve) {
  const D a{{4, 1, 0}, {1, 3, -1}, {0, -1, 5}}, b{1, 2, 3};
  EXPECT_TRUE(allclose(by_cg(a, b), linalg::solve(a, b), 1e-9, 1e-9));
  EXPECT_TRUE(allclose(jacrev(by_cg)(a, b), jacfwd(by_cg)(a, b), 1e-8, 1e-8));
  check_derivatives(
      [&](auto s) { return sum(sin(by_cg(zeros<double>({3, 3}) + D{{4, 1, 0}, {1, 3, -1}, {0, -1, 5}}, s))); }, b,
      1e-7);
  EXPECT_TRUE(allclose(vmap(by_cg, {.in_axes = {none, 0}})(a, D{{1, 2, 3}, {0, 0, 0}}),
                       stack({linalg::solve(a, b), D::zeros({3})}, 0), 1e-9, 1e-9));
}

TEST(ConjugateGradients, OfALargeSystemOfTrees) {
  // A chain of springs in two arrays, without a matrix.
  const auto pull = [](auto stiffness, auto load) {
    const auto matvec = [stiffness](auto u) {
      const auto all = concatenate({u.x, u.y}, 0);
      const auto left = pad(all, 0.0, {1}, {0}), right = pad(all, 0.0, {0}, {1});
      const auto force = stiffness * (right - left);
      const auto net = force.at(range(0, 400)) - force.at(range(1, 401));
      return Pair{net.at(range(0, 150)), net.at(range(150, 400))};
    };
    return linalg::cg(matvec, Pair{load.at(range(0, 150)), load.at(range(150, 400))}, {.max_iterations = 2000});
  };
  const D load = D::ones({400});
  const auto u = jit(pull)(D::full({401}, 2.0), load);
  for (const int64_t i : {0, 100, 149}) {
    EXPECT_NEAR(u.x[i].item(), static_cast<double>((i + 1) * (400 - i)) / 4, 1e-6) << i;
  }
  EXPECT_NEAR(u.y[0].item(), 151.0 * 250 / 4, 1e-6);
  // The compliance's derivative by the stiffness is -(extension)^2.
  const auto compliance = [&](auto k) {
    const auto v = pull(k, ones<double>({400}));
    return sum(v.x) + sum(v.y);
  };
  const D by = jit(grad(compliance))(D::full({401}, 2.0));
  EXPECT_NEAR(by[0].item(), -square(u.x[0]).item(), 1e-3);
}

TEST(ConjugateGradients, EndWithNanWithoutASolution) {
  const D b{1, 2};
  EXPECT_TRUE(std::isnan(linalg::cg([](auto x) { return 0.0 * x; }, b)[0].item()));
  EXPECT_TRUE(std::isnan(linalg::cg([](auto x) { return x * D{1, 1e6}; }, b, {.max_iterations = 1})[0].item()));
  EXPECT_TRUE(array_equal(linalg::cg([](auto x) { return 2.0 * x; }, D{0, 0}), D{0, 0}));
  EXPECT_EQ(linalg::cg([](auto x) { return 2.0 * x; }, D::zeros({0})).shape(), (Shape{0}));
  EXPECT_NEAR(linalg::cg([](auto x) { return 2.0 * x; }, D{1e200, 1e-200})[0].item(), 5e199, 1e187);
}

}  // namespace
}  // namespace calque::test
