// Manifolds of Ceres made of functions of steps.
#include <array>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include <ceres/manifold.h>
#include <ceres/manifold_test_utils.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "calque/ceres.h"

#include "motions.h"

namespace calque::test {
namespace {

using D = Array<double>;

TEST(CompiledManifold, OfMotionsIsOneForCeres) {
  const auto m = motions();
  EXPECT_EQ(m->AmbientSize(), 7);
  EXPECT_EQ(m->TangentSize(), 6);
  for (const D& turn : {D{0, 0, 0}, D{0.4, -0.2, 0.9}, D{0, 3, 0}}) {
    const std::vector<double> x = concatenate({D(angle_axis_to_quaternion(turn)), D{1, 2, -3}}, 0);
    ::ceres::Vector at = Eigen::Map<const ::ceres::Vector>(x.data(), 7), step(6), y(7);
    step << 0.1, -0.2, 0.3, 1, -2, 0.5;
    ASSERT_TRUE(m->Plus(at.data(), step.data(), y.data()));
    // Ceres' own checks: zero steps, steps there and back, Jacobians against differences.
    EXPECT_THAT(*m, ::ceres::XPlusZeroIsXAt(at, 1e-12));
    EXPECT_THAT(*m, ::ceres::XMinusXIsZeroAt(at, 1e-12));
    EXPECT_THAT(*m, ::ceres::MinusPlusIsIdentityAt(at, step, 1e-12));
    EXPECT_THAT(*m, ::ceres::PlusMinusIsIdentityAt(at, y, 1e-12));
    EXPECT_THAT(*m, ::ceres::HasCorrectPlusJacobianAt(at, 1e-9));
    EXPECT_THAT(*m, ::ceres::HasCorrectMinusJacobianAt(at, 1e-9));
    EXPECT_THAT(*m, ::ceres::MinusPlusJacobianIsIdentityAt(at, 1e-12));
  }
}

TEST(CompiledManifold, IsInvalidWhereAStepIsNotFinite) {
  const auto m = motions();
  const std::array<double, 7> x{1, 0, 0, 0, 0, 0, 0};
  const std::array<double, 6> step{0, 0, 0, 0, INFINITY, 0};
  std::array<double, 7> y;
  EXPECT_FALSE(m->Plus(x.data(), step.data(), y.data()));
}

TEST(CompiledManifold, NamesResultsOfOtherSizes) {
  const auto plus = [](auto x, auto step) { return x + step; };
  const auto wrong = [](auto y, auto x) { return sum(y - x); };
  std::string message;
  int line = 0;
  try {
    line = __LINE__ + 1;
    const std::unique_ptr<::ceres::Manifold> m(ceres::manifold<3, 3>(plus, wrong));
  } catch (const ShapeError& e) {
    message = e.what();
  }
  EXPECT_EQ(message.find("manifold: minus must return a vector of 3 elements, got shape []"), 0) << message;
  EXPECT_NE(message.find("compiled_manifolds_test.cpp:" + std::to_string(line)), std::string::npos) << message;
}

}  // namespace
}  // namespace calque::test
