// Problems of several kinds of observations: forms of blocks and functions.
#include <array>
#include <vector>

#include <gtest/gtest.h>

#include "calque/ceres.h"

#include "options.h"

namespace calque::test {
namespace {

using D = Array<double>;

TEST(Problem, OfSeveralKindsAndForms) {
  // Blocks of the observations in order, one block for all, a prior of one block without data, a lambda over a tuple.
  const int64_t n = 7;
  std::vector<std::array<double, 1>> each(static_cast<size_t>(n), {0.5});
  std::array<double, 1> all{2};
  const D y = D::arange(n);
  ceres::Problem problem;
  const auto product = [](const auto& data, auto x, auto s) { return x * s - std::get<0>(data); };
  problem.add(product, std::tuple{y}, {each, all});
  problem.add(functor<1>([](const auto* s, auto* r) { r[0] = 10.0 * (s[0] - 3.0); }), none, {all});
  problem.add([](auto x) { return 0.5 * x; }, none, {each});
  EXPECT_EQ(problem->NumResidualBlocks(), 15);
  const ceres::Linearization at = problem.linearize();
  ASSERT_EQ(at.residuals.size(), 15);
  ASSERT_EQ(at.jacobian.cols(), 8);
  for (int i = 0; i < n; ++i) {
    EXPECT_EQ(at.residuals[i], 1 - i);
    EXPECT_EQ(at.jacobian.coeff(i, i), 2);
    EXPECT_EQ(at.jacobian.coeff(i, 7), 0.5);
    EXPECT_EQ(at.residuals[8 + i], 0.25);
    EXPECT_EQ(at.jacobian.coeff(8 + i, i), 0.5);
  }
  EXPECT_EQ(at.residuals[7], -10);
  EXPECT_EQ(at.jacobian.coeff(7, 7), 10);
  const auto summary = problem.solve(options());
  EXPECT_EQ(summary.termination_type, ::ceres::CONVERGENCE) << summary.FullReport();
  EXPECT_NEAR(problem.linearize().residuals.squaredNorm() / 2, summary.final_cost, 1e-12);
}

}  // namespace
}  // namespace calque::test
