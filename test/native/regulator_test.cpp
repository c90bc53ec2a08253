// A linear quadratic regulator: the Riccati equation, iterated, compared with plain Eigen.
#include <cmath>

#include <gtest/gtest.h>

#include "native/states.h"

namespace calque {
namespace {

using namespace test;

using T = Tracer<double>;

TEST(NativePrograms, LinearQuadraticRegulator) {
  using A4 = Matrix<double, 4, 4>;
  using B4 = Matrix<double, 4, 1>;
  const auto riccati = [](const auto& P, const auto& A, const auto& B, const auto& Q, double r) {
    using S = typename std::remove_cvref_t<decltype(P)>::Scalar;
    const Eigen::Matrix<S, 1, 4> K = B.transpose() * P * A * (S(1.0) / (S(r) + (B.transpose() * P * B)(0, 0)));
    const Eigen::Matrix<S, 4, 4> closed = A - B * K;
    return (Q + K.transpose() * K * S(r) + closed.transpose() * P * closed).eval();
  };
  const auto solve = jit([riccati](const A4& A, const B4& B, const A4& Q) {
    const A4 P = fori_loop(0, 200, [&](auto, const A4& P) { return riccati(P, A, B, Q, 0.1); }, Q);
    const Matrix<double, 1, 4> K = B.transpose() * P * A * (T(1.0) / (T(0.1) + (B.transpose() * P * B)(0, 0)));
    return std::tuple{P, K};
  });
  Eigen::Matrix4d A = Eigen::Matrix4d::Identity();
  A(0, 1) = A(2, 3) = 0.1;
  A(1, 2) = -0.2;
  A(3, 2) = 1.1;
  const Eigen::Vector4d B(0, 0.1, 0, -0.2);
  const Eigen::Matrix4d Q = Eigen::Vector4d(1, 0.1, 10, 0.1).asDiagonal();
  const auto [P, K] = solve(A, B, Q);
  Eigen::Matrix4d expected = Q;
  for (int i = 0; i < 200; ++i) expected = riccati(expected, A, B, Q, 0.1);
  EXPECT_TRUE(Eigen::Matrix4d(P).isApprox(expected, 1e-9));
  const Eigen::Matrix<double, 1, 4> k = K;
  Eigen::Vector4d x(1, 0, 0.2, 0);
  for (int i = 0; i < 300; ++i) x = A * x - B * (k * x)(0, 0);
  EXPECT_LT(x.cwiseAbs().maxCoeff(), 1e-2);
}

}  // namespace
}  // namespace calque
