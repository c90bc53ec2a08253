// Lambdas whose parameters and results are Eigen matrices of tracers.
#include <gtest/gtest.h>

#include "native/states.h"

namespace calque {
namespace {

using namespace test;
using D = Array<double>;
using M3 = Matrix<double, 3, 3>;
using V3 = Vector<double, 3>;

Eigen::Matrix3d matrix() { return (Eigen::Matrix3d() << 2, 1, 0, 0, 3, 1, 1, 0, 4).finished(); }

TEST(TypedParameters, MatrixTimesVector) {
  const auto f = jit([](const M3& a, const V3& x) -> V3 { return a * x + a.transpose() * x; });
  const Eigen::Matrix3d a = matrix();
  const Eigen::Vector3d x(1, 2, 3), y = f(a, x);
  EXPECT_EQ(y, Eigen::Vector3d(a * x + a.transpose() * x));
  const std::vector<double> z = f(a, std::vector<double>{1, 2, 3});
  EXPECT_EQ(z[1], y(1));
  const Eigen::Vector3d column = f(a * a, a.col(0));
  EXPECT_EQ(column, Eigen::Vector3d(a * a * a.col(0) + (a * a).transpose() * a.col(0)));
  EXPECT_THROW(f(D{{1, 2}}, D{1, 2, 3}), ShapeError);
}

TEST(TypedParameters, OfDynamicSizesAndMixed) {
  const auto f = jit([](const Matrix<double>& m, const Vector<double>& y, auto t, int n) -> Vector<double> {
    return m * y * n + y * t;
  });
  const Eigen::MatrixXd m = Eigen::MatrixXd::Random(4, 4);
  const Eigen::VectorXd y = Eigen::VectorXd::Random(4);
  const Eigen::VectorXd r = f(m, y, 1.5, static_arg(3));
  EXPECT_TRUE(r.isApprox(m * y * 3 + y * 1.5));
}

TEST(TypedParameters, HaveDerivatives) {
  const Eigen::Vector3d g = grad([](const V3& x) { return x.dot(x); })(Eigen::Vector3d(1, 2, 3));
  EXPECT_EQ(g, Eigen::Vector3d(2, 4, 6));
  const Eigen::Matrix3d j = jacfwd([](const V3& x) -> V3 { return x * 2.0; })(Eigen::Vector3d(1, 2, 3));
  EXPECT_EQ(j, Eigen::Matrix3d(2 * Eigen::Matrix3d::Identity()));
  const Eigen::MatrixXd rows = Eigen::MatrixXd::Random(5, 3);
  const Eigen::MatrixXd batch = vmap([](const V3& x) -> V3 { return x * 2.0; })(rows);
  EXPECT_EQ(batch, Eigen::MatrixXd(rows * 2));
}

}  // namespace
}  // namespace calque
