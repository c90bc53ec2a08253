// Matrices of tracers: Eigen's arithmetic, recorded, gives the same results as on numbers.
#include "eigen/traced_matrices.h"

namespace calque::test {
namespace {

TEST(EigenOfTracers, ComputesAsOnNumbers) {
  const Eigen::MatrixXd m = sample(3, 3);
  expect_as_numbers<3, 3>([](auto a) { return plain(a * a.transpose() + 2.0 * a - a / 3.0); }, m);
  expect_as_numbers<3, 3>([](auto a) { return plain(a.cwiseProduct(a) - a.cwiseAbs()); }, m);
  expect_as_numbers<3, 3>([](auto a) { return plain(a.row(0).transpose().cross(a.col(1))); }, m);
  expect_as_numbers<3, 3>([](auto a) { return a.col(0).dot(a.col(2)); }, m);
  expect_as_numbers<3, 3>([](auto a) { return a.norm(); }, m);
  expect_as_numbers<3, 3>([](auto a) { return a.determinant(); }, m);
  expect_as_numbers<3, 3>([](auto a) { return a.trace() + a.sum() + a.prod(); }, m);
  expect_as_numbers<3, 3>([](auto a) { return plain(a.inverse()); }, m);
  expect_as_numbers<3, 3>([](auto a) { return plain(a.array().sin().exp().matrix()); }, m);
  expect_as_numbers<3, 3>([](auto a) { return plain(a.cwiseMax(a.transpose())); }, m);
  expect_as_numbers<3, 3>([](auto a) { return a.maxCoeff() - a.minCoeff(); }, m);
  expect_as_numbers<2, 2>([](auto a) { return plain(a.inverse() * a); }, sample(2, 2));
  expect_as_numbers<4, 4>([](auto a) { return plain(a.inverse()); }, sample(4, 4));
}

TEST(EigenOfTracers, Rotate) {
  const Eigen::MatrixXd v = sample(3, 1);
  const auto rotate = [](auto u) {
    using S = typename decltype(u)::Scalar;
    using V = Eigen::Matrix<S, 3, 1>;
    const Eigen::AngleAxis<S> rotation(u(0), V(V::UnitZ()));
    const Eigen::Quaternion<S> q(rotation);
    return V(rotation.toRotationMatrix() * u + q * u);
  };
  expect_as_numbers<3, 1>(rotate, v);
}

}  // namespace
}  // namespace calque::test
