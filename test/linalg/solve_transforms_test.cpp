// linalg::solve, inv, det, slogdet, lu and qr in batches against loops, in loops, and how often they factor.
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
      EXPECT_TRUE(close(std::get<0>(all_of).at(i) / std::get<0>(own), D(1.0)));
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
