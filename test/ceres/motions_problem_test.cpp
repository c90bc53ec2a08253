// A problem whose block moves along a manifold made of functions of steps.
#include <array>
#include <tuple>

#include <gtest/gtest.h>

#include "calque/ceres.h"

#include "motions.h"
#include "options.h"

namespace calque::test {
namespace {

using D = Array<double>;

TEST(CompiledManifold, InAProblem) {
  // The pose that maps points to where they were seen.
  const D pose = {0.5, 0.5, -0.5, 0.5, 1, 2, 3};
  const D points = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  const auto seen_from = [](const auto& x, const auto& p) {
    return quaternion_rotate(x.at(range(0, 4)), p) + x.at(range(4, 7));
  };
  const D seen = vmap(seen_from, {.in_axes = {none, 0}})(pose, points);
  std::array<double, 7> found{1, 0, 0, 0, 0, 0, 0};
  ceres::Problem problem;
  problem.add([=](auto data, auto x) { return seen_from(x, std::get<0>(data)) - std::get<1>(data); },
              std::tuple{points, seen}, {found});
  problem->SetManifold(found.data(), motions().release());
  const auto summary = problem.solve(options());
  EXPECT_EQ(summary.termination_type, ::ceres::CONVERGENCE) << summary.FullReport();
  EXPECT_LT(summary.num_successful_steps, 12);
  const double sign = found[0] < 0 ? -1 : 1;
  for (size_t i = 0; i < 7; ++i) {
    EXPECT_NEAR((i < 4 ? sign : 1) * found[i], pose(static_cast<int64_t>(i)), 1e-9) << i;
  }
}

}  // namespace
}  // namespace calque::test
