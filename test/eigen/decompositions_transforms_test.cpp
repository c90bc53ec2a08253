// Derivatives of Eigen's inverses, determinants and solvers and of the functions of linalg.h on matrices of tracers,
// against differences; vmap of them against loops.
#include "eigen/traced_matrices.h"

namespace calque::test {
namespace {

namespace la = linalg;
using Eigen::Dynamic;
using Any = TMatrix<Dynamic>;

/// The gradient of the sum of sin(f) against differences of the fourth order along one direction.
void expect_gradient(const TracedFunction& f, const Eigen::MatrixXd& at) {
  const auto scalar = [&](auto x) { return sum(sin(f(x))); };
  const auto value = jit(scalar);
  const Array<double> x = any_of(at).as<double>(), d = cos(x * 3.0);
  const double h = 1e-3;
  const auto along = [&](double t) { return value(Array<double>(x + d * t)).item(); };
  const double want = (8 * (along(h) - along(-h)) - (along(2 * h) - along(-2 * h))) / (12 * h);
  EXPECT_NEAR(sum(jit(grad(scalar))(x) * d).item(), want, 1e-8 * (1 + std::abs(want)));
}

Eigen::MatrixXd tame(int rows, int columns) {
  return sample(rows, columns) + 3 * Eigen::MatrixXd::Identity(rows, columns);
}

template <int N>
void expect_gradients_of_members(int n) {
  SCOPED_TRACE(n);
  using M = TMatrix<N>;
  expect_gradient([](TD x) { return TD(plain(M(x).inverse())); }, tame(n, n));
  expect_gradient([](TD x) { return M(x).determinant() * std::pow(0.2, double(M(x).rows())); }, tame(n, n));
}

TEST(EigenDerivatives, OfInversesAndDeterminants) {
  expect_gradients_of_members<2>(2);
  expect_gradients_of_members<3>(3);
  expect_gradients_of_members<4>(4);
  for (const int n : {3, 5, 8}) expect_gradients_of_members<Dynamic>(n);
}

TEST(EigenDerivatives, OfSolvers) {
  for (const int n : {2, 5}) {
    SCOPED_TRACE(n);
    const auto of = [&](auto f) { expect_gradient([&](TD x) { return TD(f(Any(x))); }, tame(n, n)); };
    of([](const Any& m) { return plain(m.llt().solve(m)); });
    of([](const Any& m) { return Any(m.llt().matrixL()); });
    of([](const Any& m) { return plain(m.ldlt().solve(m)); });
    of([](const Any& m) { return plain(m.partialPivLu().solve(m.transpose())); });
    of([](const Any& m) { return plain(m.householderQr().solve(m.transpose())); });
    of([](const Any& m) { return plain(m.triangularView<Eigen::Upper>().solve(m.transpose())); });
  }
}

TEST(EigenDerivatives, OfTheFunctionsOfMatricesOfTracers) {
  const auto of = [&](auto f, int rows, int columns) {
    expect_gradient([&](TD x) { return TD(f(Any(x))); }, tame(rows, columns));
  };
  of([](const Any& m) { return la::solve(m, m.transpose()); }, 4, 4);
  of([](const Any& m) { return la::inv(m); }, 4, 4);
  of([](const Any& m) { return la::det(m) * 0.01; }, 4, 4);
  of([](const Any& m) { return std::get<1>(la::slogdet(m)); }, 4, 4);
  of([](const Any& m) { return std::get<0>(la::qr(m)); }, 4, 3);
  of([](const Any& m) { return std::get<1>(la::lu(m)); }, 4, 3);
  of([](const Any& m) { return std::get<0>(la::lstsq(m, m.rowwise().sum() * 2.0 + m.col(0))); }, 4, 3);
  of([](const Any& m) { return std::get<1>(la::lstsq(m, Eigen::VectorXd::Ones(4).eval())); }, 4, 3);
}

TEST(EigenDecompositionsVmap, IsALoop) {
  const auto f = [](const Matrix<double, 3, 3>& m) {
    const auto [q, r] = la::qr(m);
    const TMatrix<3> s = m * m.transpose() + TMatrix<3>::Identity();
    const TMatrix<3> all = m.inverse() + s.llt().solve(m) + m.partialPivLu().solve(q) + la::solve(m, r) +
                           m.householderQr().solve(s) + s.ldlt().solve(q);
    return TMatrix<3>(all * (m.determinant() + la::det(s)));
  };
  std::vector<Array<double>> parts;
  for (int i = 0; i < 5; ++i) parts.push_back(any_of(tame(3, 3) * (1 + i) + sample(3, 3)).as<double>());
  const Array<double> all = jit(vmap(f))(stack(parts, 0));
  const auto one = jit(f);
  for (int i = 0; i < 5; ++i) {
    EXPECT_TRUE(allclose(Array<double>(all.at(i)), one(parts[static_cast<size_t>(i)]), 1e-10, 1e-10)) << i;
  }
}

}  // namespace
}  // namespace calque::test
