// Steps on manifolds and their Jacobians beside those of Ceres' classes.
#include <cmath>
#include <vector>

#include <ceres/manifold.h>
#include <ceres/product_manifold.h>
#include <ceres/sphere_manifold.h>
#include <ceres/version.h>
#include <gtest/gtest.h>

#include "calque/calque.h"

namespace calque::test {
namespace {

using D = Array<double>;

/// What the methods of a manifold write.
D plus(const ::ceres::Manifold& m, const D& x, const D& step) {
  std::vector<double> y(static_cast<size_t>(m.AmbientSize()));
  EXPECT_TRUE(m.Plus(x.host().data(), step.host().data(), y.data()));
  return D::from(y);
}
D minus(const ::ceres::Manifold& m, const D& y, const D& x) {
  std::vector<double> step(static_cast<size_t>(m.TangentSize()));
  EXPECT_TRUE(m.Minus(y.host().data(), x.host().data(), step.data()));
  return D::from(step);
}
D plus_jacobian(const ::ceres::Manifold& m, const D& x) {
  std::vector<double> j(static_cast<size_t>(m.AmbientSize() * m.TangentSize()));
  EXPECT_TRUE(m.PlusJacobian(x.host().data(), j.data()));
  return D::from(j, {m.AmbientSize(), m.TangentSize()});
}
D minus_jacobian(const ::ceres::Manifold& m, const D& x) {
  std::vector<double> j(static_cast<size_t>(m.AmbientSize() * m.TangentSize()));
  EXPECT_TRUE(m.MinusJacobian(x.host().data(), j.data()));
  return D::from(j, {m.TangentSize(), m.AmbientSize()});
}
double distance(const D& a, const D& b) {
  EXPECT_EQ(a.shape(), b.shape());
  return amax(abs(a - b)).item();
}

const std::vector<D> kTurns = {D{0.4, -0.2, 0.9}, D{0, 0, 0}, D{1e-9, 0, -1e-9}, D{3, 0.3, -0.2}, D{M_PI, 0, 0}};
const std::vector<D> kSteps = {D{0, 0, 0}, D{1e-9, 1e-9, 0}, D{1e-170, 0, 0}, D{0.1, 0.2, -0.1}, D{1, -0.5, 0.7}};

TEST(RotationManifolds, QuaternionsStepAsOfCeres) {
  const ::ceres::QuaternionManifold m;
  for (const D& turn : kTurns) {
    const D x = angle_axis_to_quaternion(turn);
    SCOPED_TRACE(testing::Message() << x);
    EXPECT_LT(distance(quaternion_plus_jacobian(x), plus_jacobian(m, x)), 1e-15);
    EXPECT_LT(distance(quaternion_minus_jacobian(x), minus_jacobian(m, x)), 1e-15);
    for (const D& step : kSteps) {
      const D y = quaternion_plus(x, step);
      EXPECT_LT(distance(y, plus(m, x, step)), 5e-16) << step;
      EXPECT_LT(distance(quaternion_minus(y, x), minus(m, y, x)), 2e-15) << step;
    }
  }
}

TEST(RotationManifolds, QuaternionsOfEigenAreAPermutation) {
  const ::ceres::EigenQuaternionManifold m;
  const auto w_last = [](const D& q) { return concatenate({q.at(range(1, 4)), q.at(range(0, 1))}, 0); };
  for (const D& turn : kTurns) {
    const D x = angle_axis_to_quaternion(turn);
    SCOPED_TRACE(testing::Message() << x);
    EXPECT_LT(distance(w_last(quaternion_plus_jacobian(x)), plus_jacobian(m, w_last(x))), 1e-15);
    EXPECT_LT(distance(w_last(quaternion_minus_jacobian(x).T()), minus_jacobian(m, w_last(x)).T()), 1e-15);
    for (const D& step : kSteps) {
      EXPECT_LT(distance(w_last(quaternion_plus(x, step)), plus(m, w_last(x), step)), 5e-16) << step;
    }
  }
}

/// Before version 2.2 of Ceres a step on a sphere moved by half of its length.
constexpr double kStepOfSpheres = CERES_VERSION_MAJOR > 2 || CERES_VERSION_MINOR > 1 ? 1 : 0.5;

TEST(RotationManifolds, UnitVectorsStepAsOfCeres) {
  const ::ceres::SphereManifold<3> m;
  for (const D& x : {D{0, 0, 1}, D{0, 0, -1}, D{0.6, 0, -0.8}, D{2. / 7, 3. / 7, 6. / 7}, D{1, 0, 0}}) {
    SCOPED_TRACE(testing::Message() << x);
    EXPECT_LT(distance(kStepOfSpheres * unit_vector_plus_jacobian(x), plus_jacobian(m, x)), 1e-15);
    EXPECT_LT(distance(unit_vector_minus_jacobian(x) / kStepOfSpheres, minus_jacobian(m, x)), 1e-15);
    for (const D& step : {D{0, 0}, D{1e-9, 1e-9}, D{0.1, 0.2}, D{1, -2}}) {
      const D y = unit_vector_plus(x, kStepOfSpheres * step);
      EXPECT_LT(distance(y, plus(m, x, step)), 1e-15) << step;
      EXPECT_LT(distance(unit_vector_minus(y, x) / kStepOfSpheres, minus(m, y, x)), 3e-15) << step;
    }
  }
}

TEST(RotationManifolds, MotionsStepAsProductsOfCeresInOtherCoordinates) {
  // The pose moves by exp of the step, and the product's quaternion and translation on their own, by half of a rotation
  // vector: at step 0 the translation t differs by the cross product of the rotation vector and t.
  const ::ceres::ProductManifold<::ceres::QuaternionManifold, ::ceres::EuclideanManifold<3>> m;
  for (const D& turn : kTurns) {
    const D t = {1, 2, -3}, x = concatenate({D(angle_axis_to_quaternion(turn)), t}, 0);
    SCOPED_TRACE(testing::Message() << x);
    const D zero = D::zeros({3, 3}), one = D::eye(3), cross = {{0, 3, 2}, {-3, 0, -1}, {-2, 1, 0}};  // of t
    const auto of_blocks = [](const D& a, const D& b, const D& c, const D& d) {
      return concatenate({concatenate({a, b}, 1), concatenate({c, d}, 1)}, 0);
    };
    EXPECT_LT(distance(se3_plus_jacobian(x), matmul(plus_jacobian(m, x), of_blocks(0.5 * one, zero, -cross, one))),
              1e-15);
    EXPECT_LT(
        distance(se3_minus_jacobian(x), matmul(of_blocks(2.0 * one, zero, 2.0 * cross, one), minus_jacobian(m, x))),
        2e-15);
  }
}

}  // namespace
}  // namespace calque::test
