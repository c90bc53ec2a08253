// Problems with manifolds and cost functions of Ceres.
#include <array>
#include <cmath>

#include <ceres/manifold.h>
#include <ceres/sphere_manifold.h>
#include <gtest/gtest.h>

#include "calque/ceres.h"

#include "options.h"

namespace calque::test {
namespace {

TEST(Problem, WithManifoldsAndCostFunctionsOfCeres) {
  std::array<double, 3> direction{0.6, 0, 0.8};
  ceres::Problem problem;
  const auto towards = [](const auto* x, auto* r) {
    r[0] = x[0] - 1.0;
    r[1] = x[1] - 1.0;
    r[2] = x[2];
  };
  problem.add(functor<3>(towards), none, {direction});
  problem->SetManifold(direction.data(), new ::ceres::SphereManifold<3>());
  const auto weak = [](const auto* x, auto* r) { r[0] = 1e-9 * x[2]; };
  problem->AddResidualBlock(ceres::cost_function<1, 3>(weak), nullptr, direction.data());
  EXPECT_NE(problem.solve(options()).termination_type, ::ceres::FAILURE);
  EXPECT_NEAR(direction[0], std::sqrt(0.5), 1e-6);
  EXPECT_NEAR(direction[1], std::sqrt(0.5), 1e-6);
}

}  // namespace
}  // namespace calque::test
