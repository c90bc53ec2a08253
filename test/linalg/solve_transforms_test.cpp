// linalg::solve, inv, det, slogdet, lu, qr and lstsq under grad and vmap: against differences, to the second order, and
// against loops.
#include <gtest/gtest.h>

#include "calque/calque.h"

#include "support/stages.h"

namespace calque::test {
namespace {

using D = Array<double>;
namespace la = linalg;

bool close(const D& x, const D& y, double tolerance = 1e-12) { return allclose(x, y, tolerance, tolerance); }

D matrix(int64_t rows, int64_t columns) {
  std::vector<double> a(static_cast<size_t>(rows * columns));
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j)
      a[static_cast<size_t>(i * columns + j)] = std::sin(static_cast<double>(3 * i * i + 5 * j + 1)) +
                                                (j == (i + 1) % columns ? 1.5 * static_cast<double>(columns) : 0);
  return D::from(a, {rows, columns});
}

/// The derivative of f at a along d, by differences of the fourth order.
template <class Function>
double difference_along(const Function& f, const D& a, const D& d) {
  const double h = 1e-3;
  const auto at = [&](double t) { return f(D(a + d * t)).item(); };
  return (8 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12 * h);
}

/// First and second derivatives of a scalar function of a matrix against differences, in forward and reverse mode.
template <class Function>
void check_derivatives(const Function& f, int64_t rows, int64_t columns) {
  const D a = matrix(rows, columns), d = cos(matrix(rows, columns)), e = sin(matrix(rows, columns) * 2.0);
  const auto along = [&](auto x) { return sum(grad(f)(x) * d); };
  const double first = difference_along(jit(f), a, d);
  const double size = 1 + std::abs(first);
  EXPECT_NEAR(jit(along)(a).item(), first, 1e-8 * size);
  EXPECT_NEAR(jit([&](auto x) { return jvp(f, std::tuple{x}, std::tuple{d}).second; })(a).item(), first, 1e-8 * size);
  const double second = difference_along(jit(along), a, e);
  EXPECT_NEAR(jit([&](auto x) { return sum(grad(along)(x) * e); })(a).item(), second, 1e-7 * (1 + std::abs(second)));
}

TEST(SolveTransforms, DerivativesOfSolveAndInverse) {
  for (const int64_t n : {1, 2, 3, 5, 8, 9, 13}) {
    SCOPED_TRACE(n);
    const D b = cos(matrix(n, 2));
    check_derivatives([&](auto a) { return sum(sin(la::solve(a, b))); }, n, n);
    check_derivatives([](auto a) { return sum(sin(la::inv(a))); }, n, n);
    check_derivatives([](auto a) { return sum(la::solve(a, a * 2.0 + transpose(a)) * a); }, n, n);
    check_derivatives(
        [&](auto a) {
          const auto [packed, perm] = la::lu_factor(a);
          return sum(sin(la::lu_solve(packed, perm, b)));
        },
        n, n);
  }
}

TEST(SolveTransforms, DerivativesOfDeterminants) {
  for (const int64_t n : {1, 2, 3, 4, 6, 9}) {
    SCOPED_TRACE(n);
    check_derivatives([](auto a) { return la::det(a * 0.3); }, n, n);
    check_derivatives([](auto a) { return std::get<1>(la::slogdet(a)) * 2.0; }, n, n);
  }
}

TEST(SolveTransforms, DerivativesOfFactors) {
  for (const auto& [m, n] : {std::pair<int64_t, int64_t>{1, 1}, {3, 3}, {5, 3}, {3, 5}, {9, 9}, {12, 7}, {7, 12}}) {
    SCOPED_TRACE(testing::Message() << m << " x " << n);
    check_derivatives(
        [](auto a) {
          const auto [p, l, u] = la::lu(a);
          return sum(sin(l)) + sum(u * u * 0.1);
        },
        m, n);
    check_derivatives(
        [](auto a) {
          const auto [q, r] = la::qr(a);
          return sum(sin(q * 2.0)) + sum(r * r * r * 0.1);
        },
        m, n);
    const D b = cos(matrix(m, 2));
    check_derivatives([&](auto a) { return sum(sin(std::get<0>(la::lstsq(a, b)))); }, m, n);
  }
}

TEST(SolveTransforms, DerivativesOfPowersAndExponentials) {
  for (const double scale : {0.05, 0.6}) {
    check_derivatives([&](auto a) { return sum(sin(la::expm(a * scale)) * 0.1); }, 3, 3);
    check_derivatives([&](auto a) { return sum(sin(la::matrix_power(a * scale, 3)) * 0.1); }, 3, 3);
    check_derivatives([&](auto a) { return sum(la::matrix_power(a * scale, -2) * 0.1); }, 3, 3);
  }
  const auto f = [](auto a) { return sum(la::expm(a)); };
  const D many = stack({matrix(3, 3) * 0.01, matrix(3, 3) * 0.5}, 0);
  const D batched = jit(vmap(grad(f)))(many);
  for (int64_t i = 0; i < 2; ++i) {
    const D own = grad(f)(D(many.at(i)));
    EXPECT_TRUE(close(batched.at(i) / own, D::ones({3, 3}), 1e-11));
  }
}

/// The cofactors exist where the inverse does not.
TEST(SolveTransforms, GradientsOfSingularDeterminants) {
  const auto gradient = jit(grad([](auto a) { return la::det(a); }));
  // Rank 3: the gradient is that of the cofactors, by 3 x 3 determinants.
  for (const int64_t zeroed : {0, 1, 3}) {
    D a = matrix(4, 4);
    for (int64_t i = 0; i < 4; ++i) a = a.set(i, zeroed, 0.0);
    const D got = gradient(a);
    for (int64_t i = 0; i < 4; ++i) {
      for (int64_t j = 0; j < 4; ++j) {
        std::vector<double> minor;
        for (int64_t k = 0; k < 4; ++k)
          for (int64_t l = 0; l < 4; ++l)
            if (k != i && l != j) minor.push_back(a(k, l));
        const double cofactor = ((i + j) % 2 == 0 ? 1 : -1) * la::det(D::from(minor, {3, 3})).item();
        EXPECT_NEAR(got(i, j), cofactor, 1e-10) << zeroed << ": " << i << " " << j;
      }
    }
  }
  for (const int64_t n : {1, 2, 3}) EXPECT_TRUE(close(gradient(D::zeros({n, n})), n == 1 ? D{{1}} : D::zeros({n, n})));
}

TEST(SolveTransforms, OneFactorizationServesValueAndDerivatives) {
  const auto f = [](auto a, auto b) { return sum(sin(la::solve(a, b))); };
  const auto both = jit([&](auto a, auto b) { return std::pair{f(a, b), grad(f, argnums<0, 1>)(a, b)}; });
  const Graph g = both.trace(matrix(20, 20), D::ones({20}));
  int count = 0;
  for (const kernel::RoutineRef& r : test::stages::build_program(g).routines)
    if (r.routine == primitives::Routine::lu) ++count;
  EXPECT_EQ(count, 1);
}

TEST(SolveTransforms, BatchesEqualLoops) {
  for (const int64_t n : {3, 10}) {
    const D one = matrix(n, n), many = stack({one, transpose(one), one * -1.5}, 0);
    const D b = cos(matrix(n, 2)), sides = stack({b, b * 2.0, b - 3.0}, 1);
    const auto solve = [](auto a, auto y) { return la::solve(a, y); };
    const D by_matrix = vmap(solve, {.in_axes = {0, none}})(many, b),
            by_side = vmap(solve, {.in_axes = {none, 1}})(one, sides),
            by_both = vmap(solve, {.in_axes = {0, 1}})(many, sides);
    const auto numbers = [](auto a) {
      const auto [sign, log] = la::slogdet(a);
      const auto [q, r] = la::qr(a);
      const auto [packed, perm] = la::lu_factor(a);
      return std::tuple{la::det(a), sign, log, q, r, packed, perm};
    };
    const auto all_of = vmap(numbers)(many);
    const D gradients = vmap(grad([](auto a) { return la::det(a * 0.2) + sum(la::inv(a)); }))(many);
    for (int64_t i = 0; i < 3; ++i) {
      const D a = D(many.at(i)), side = D(sides.at(all, i));
      EXPECT_TRUE(close(by_matrix.at(i), la::solve(a, b)));
      EXPECT_TRUE(close(by_side.at(i), la::solve(one, side)));
      EXPECT_TRUE(close(by_both.at(i), la::solve(a, side)));
      const auto own = numbers(a);
      EXPECT_TRUE(close(std::get<0>(all_of).at(i) / std::get<0>(own), D(1)));
      EXPECT_TRUE(close(std::get<1>(all_of).at(i), std::get<1>(own)));
      EXPECT_TRUE(close(std::get<2>(all_of).at(i), std::get<2>(own)));
      EXPECT_TRUE(close(std::get<3>(all_of).at(i), std::get<3>(own)));
      EXPECT_TRUE(close(std::get<4>(all_of).at(i), std::get<4>(own)));
      EXPECT_TRUE(close(std::get<5>(all_of).at(i), std::get<5>(own)));
      EXPECT_TRUE(array_equal(Array<int32_t>(std::get<6>(all_of).at(i)), std::get<6>(own)));
      EXPECT_TRUE(close(gradients.at(i), grad([](auto x) { return la::det(x * 0.2) + sum(la::inv(x)); })(a), 1e-10));
    }
  }
}

/// Newton's method on a system whose matrix is a Jacobian, in a loop.
TEST(SolveTransforms, RunsInLoops) {
  const auto residual = [](auto x) { return sin(x) + x * x * 0.1 - 0.5; };
  const auto newton = jit([&](auto x) {
    return fori_loop(0, 8, [&](auto, auto y) { return y - la::solve(jacfwd(residual)(y), residual(y)); }, x);
  });
  for (const int64_t n : {3, 10}) {
    const D x = newton(D::ones({n}) * 0.4);
    EXPECT_TRUE(close(residual(x), D::zeros({n})));
  }
}

}  // namespace
}  // namespace calque::test
