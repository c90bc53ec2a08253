// linalg::cholesky, triangular_solve and cho_solve under grad and vmap, in loops, and on Eigen matrices.
#include <gtest/gtest.h>

#include "calque/calque.h"
#include "calque/eigen.h"

namespace calque::test {
namespace {

using D = Array<double>;
namespace la = linalg;

const D& definite() {
  static const D a = {{4, 2, -2}, {2, 10, 2}, {-2, 2, 6}};
  return a;
}

bool close(const D& x, const D& y, double tolerance = 1e-13) { return allclose(x, y, tolerance, tolerance); }

/// The derivative of a scalar function of a matrix by differences.
template <class Function>
D differences(const Function& f, const D& a) {
  D out = D::zeros(a.shape());
  const int64_t n = a.shape()[0];
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      const double h = 1e-5;
      const D up = a.set(i, j, a(i, j) + h), down = a.set(i, j, a(i, j) - h);
      out = out.set(i, j, (f(up).item() - f(down).item()) / (2 * h));
    }
  }
  return out;
}

TEST(LinalgTransforms, GradientsEqualDifferences) {
  const D b = {{1, 2}, {3, -4}, {5, 6}};
  const auto log_det = [](auto a) { return sum(log(diagonal(la::cholesky(a)))) * 2.0; };
  const auto quadratic = [&](auto a) { return sum(b * la::cho_solve(la::cholesky(a), b)); };
  EXPECT_TRUE(close(grad(log_det)(definite()), differences(jit(log_det), definite()), 1e-8));
  EXPECT_TRUE(close(jit(grad(log_det))(definite()), la::cho_solve(la::cholesky(definite()), D::eye(3)), 1e-12));
  EXPECT_TRUE(close(jit(grad(quadratic))(definite()), differences(jit(quadratic), definite()), 1e-8));
  // The second order: the Hessian of log det a along d is -tr(a^-1 d a^-1 d).
  const D inverse = la::cho_solve(la::cholesky(definite()), D::eye(3)), d = {{1, 2, 3}, {2, 4, 5}, {3, 5, -1}};
  const auto along = [&](auto t) { return log_det(D(definite()) + t * d); };
  const D product = matmul(matmul(inverse, d), matmul(inverse, d));
  EXPECT_NEAR(jit(grad(grad(along)))(0.0).item(), -trace(product).item(), 1e-11);
}

TEST(LinalgTransforms, BatchesEqualLoops) {
  const D a = stack({definite(), definite() * 2.0, D{{1, 0, 0}, {0, -1, 0}, {0, 0, 1}}}, 0);
  const D b = D{{1, 2}, {3, 4}, {5, 6}}, many = stack({b, b * 2.0, b - 3.0}, 1);
  const auto factor = [](auto x) { return la::cholesky(x); };
  EXPECT_TRUE(array_equal(vmap(factor)(a), la::cholesky(a), true));
  const auto solve = [](auto l, auto v) { return la::cho_solve(l, v); };
  const D l = la::cholesky(definite());
  const D both = vmap(solve, {.in_axes = {none, 1}})(l, many);
  for (int64_t i = 0; i < 3; ++i) EXPECT_TRUE(close(both.at(i), la::cho_solve(l, D(many.at(all, i)))));
  const D matrices = vmap(solve, {.in_axes = {0, none}})(la::cholesky(a), b);
  for (int64_t i = 0; i < 2; ++i) EXPECT_TRUE(close(matrices.at(i), la::cho_solve(la::cholesky(D(a.at(i))), b)));
}

TEST(LinalgTransforms, TakesEigenMatricesOfTracers) {
  const auto f = jit([](const auto& a, const auto& b) {
    const auto l = la::cholesky(a);
    return std::pair{la::cho_solve(l, b), la::triangular_solve(l, b, {.transpose = true})};
  });
  Eigen::Matrix3d a;
  a << 4, 2, -2, 2, 10, 2, -2, 2, 6;
  const Eigen::Vector3d b(1, 2, 3);
  const auto [x, y] = f(a, b);
  const Eigen::Matrix3d l = a.llt().matrixL();
  const Eigen::Vector3d solution = a.llt().solve(b), half = l.transpose().triangularView<Eigen::Upper>().solve(b);
  EXPECT_TRUE(close(x, D::from(solution)));
  EXPECT_TRUE(close(y, D::from(half)));
}

TEST(LinalgTransforms, RunsInLoops) {
  const auto f =
      jit([](auto a) { return fori_loop(0, 3, [&](auto, auto x) { return la::cho_solve(la::cholesky(a), x); }, a); });
  const D inverse = la::cho_solve(la::cholesky(definite()), D::eye(3));
  EXPECT_TRUE(close(f(definite()), matmul(inverse, inverse), 1e-12));
}

}  // namespace
}  // namespace calque::test
