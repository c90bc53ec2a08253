// linalg::norm and multi_dot of Eigen matrices of tracers.
#include "calque/eigen.h"

#include <gtest/gtest.h>

#include "calque/calque.h"

namespace calque::test {
namespace {

using D = Array<double>;
namespace la = linalg;
using la::ord;

bool close(const D& x, const D& y, double tolerance = 1e-13) { return allclose(x, y, tolerance, tolerance); }

TEST(LinalgEigen, NormOfTracers) {
  const auto f =
      jit([](const Matrix<double, 2, 3>& m) { return std::pair{la::norm(m, ord::one), la::norm(m, ord::fro)}; });
  const auto g = jit([](const Matrix<double, 3, 1>& v) { return la::norm(v, ord::inf); });
  Eigen::Matrix<double, 2, 3> m;
  m << 1, -2, 3, -4, 5, 0;
  const auto [one, fro] = f(m);
  EXPECT_EQ(one.item(), 7);
  EXPECT_NEAR(fro.item(), m.norm(), 1e-14);
  EXPECT_EQ(g(Eigen::Vector3d(1, -4, 2)).item(), 4);
}

TEST(LinalgEigen, MultiDotOfTracers) {
  const auto f = jit([](const Matrix<double, 2, 2>& a, const Matrix<double, 2, 1>& v) {
    const auto row = v.transpose().eval();
    return std::tuple{la::multi_dot(a, a, v), la::multi_dot(v, row, a), la::multi_dot(row, a, a, v)};
  });
  Eigen::Matrix2d a;
  a << 1, 2, 3, 4;
  const Eigen::Vector2d v(1, -2);
  const auto [x, y, z] = f(a, v);
  EXPECT_TRUE(close(x, D{-13, -29}));
  EXPECT_TRUE(close(y, D{{-5, -6}, {10, 12}}));
  EXPECT_TRUE(close(reshape(z, {}), D(45.0)));
}

}  // namespace
}  // namespace calque::test
