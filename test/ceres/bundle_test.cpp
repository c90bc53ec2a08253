// Bundle adjustments with compiled Jacobians beside plain Ceres: final costs, Jacobians, threads, single evaluations.
#include <array>
#include <cmath>
#include <memory>
#include <vector>

#include <ceres/crs_matrix.h>
#include <gtest/gtest.h>

#include "calque/ceres.h"

#include "options.h"
#include "scene.h"

namespace calque::test {
namespace {

TEST(Problem, AdjustsABundleAsCeres) {
  for (const int threads : {1, 2}) {
    Scene s(8, 60, 4, 0.5), plain = s;
    ceres::Problem ours;
    add_scene(ours, s);
    ours->SetParameterBlockConstant(s.cameras[0].data());
    ::ceres::Problem theirs;
    add_plain(theirs, plain);
    theirs.SetParameterBlockConstant(plain.cameras[0].data());
    auto o = options();
    o.num_threads = threads;
    o.linear_solver_type = ::ceres::SPARSE_SCHUR;
    const auto a = ours.solve(o);
    ::ceres::Solver::Summary b;
    ::ceres::Solve(o, &theirs, &b);
    EXPECT_LT(a.final_cost, 0.01 * a.initial_cost);
    EXPECT_NEAR(a.initial_cost, b.initial_cost, 1e-13 * b.initial_cost);
    EXPECT_NEAR(a.final_cost, b.final_cost, 1e-9 * b.final_cost);
  }
}

TEST(Problem, JacobiansAsCeres) {
  Scene s(4, 13, 3, 0.5);
  ceres::Problem ours;
  add_scene(ours, s);
  ::ceres::Problem theirs;
  add_plain(theirs, s);
  const auto evaluated = [&](::ceres::Problem& p) {
    std::pair<std::vector<double>, ::ceres::CRSMatrix> result;
    ::ceres::Problem::EvaluateOptions o;
    o.apply_loss_function = false;
    for (auto& c : s.cameras) o.parameter_blocks.push_back(c.data());
    for (auto& q : s.points) o.parameter_blocks.push_back(q.data());
    EXPECT_TRUE(p.Evaluate(o, nullptr, &result.first, nullptr, &result.second));
    return result;
  };
  const auto [r, j] = evaluated(*ours.get());
  const auto [r0, j0] = evaluated(theirs);
  ASSERT_EQ(j.cols, j0.cols);
  ASSERT_EQ(j.values.size(), j0.values.size());
  for (size_t i = 0; i < r.size(); ++i) EXPECT_NEAR(r[i], r0[i], 1e-14 * (1 + std::abs(r0[i])) * 100);
  double scale = 0;
  for (const double e : j0.values) scale = std::max(scale, std::abs(e));
  for (size_t i = 0; i < j.values.size(); ++i) EXPECT_NEAR(j.values[i], j0.values[i], 1e-14 * scale);

  const ceres::Linearization all = ours.linearize();
  ASSERT_EQ(all.jacobian.rows(), j.num_rows);
  ASSERT_EQ(all.jacobian.cols(), j.num_cols);
  EXPECT_EQ(ours.first_column(ceres::Blocks(s.cameras)), 0);
  EXPECT_EQ(ours.first_column(ceres::Blocks(s.points)), 36);
  for (int row = 0; row < j.num_rows; ++row) {
    EXPECT_EQ(all.residuals[row], r[static_cast<size_t>(row)]);
    for (int i = j.rows[static_cast<size_t>(row)]; i < j.rows[static_cast<size_t>(row) + 1]; ++i) {
      EXPECT_EQ(all.jacobian.coeff(row, j.cols[static_cast<size_t>(i)]), j.values[static_cast<size_t>(i)]);
    }
  }
  EXPECT_EQ(all.jacobian.nonZeros(), static_cast<int64_t>(j.values.size()));
}

TEST(Problem, EvaluatesASingleObservationElsewhere) {
  Scene s(4, 5, 2, 0.5);
  ceres::Problem problem;
  add_scene(problem, s);
  std::vector<::ceres::ResidualBlockId> ids;
  problem->GetResidualBlocks(&ids);
  std::array<double, 9> camera = s.cameras[static_cast<size_t>(s.camera[3])];
  camera[6] += 1;
  const auto* const point = s.points[static_cast<size_t>(s.point[3])].data();
  const double* parameters[] = {camera.data(), point};
  double r[2], expected[2], of_camera[18];
  double* jacobians[] = {of_camera, nullptr};
  const auto* cost = problem->GetCostFunctionForResidualBlock(ids[3]);
  EXPECT_TRUE(cost->Evaluate(parameters, r, jacobians));
  Projection<double>{s.u[3], s.v[3]}(camera.data(), point, expected);
  EXPECT_NEAR(r[0], expected[0], 1e-11);
  EXPECT_NEAR(r[1], expected[1], 1e-11);
  const std::unique_ptr<::ceres::CostFunction> one(cost_of(s, 3));
  double of_one[18];
  double* to[] = {of_one, nullptr};
  EXPECT_TRUE(one->Evaluate(parameters, r, to));
  for (size_t i = 0; i < 18; ++i) EXPECT_NEAR(of_camera[i], of_one[i], 1e-11);
  // The values changed behind Ceres: the problem reads them anew.
  s.cameras[0][6] += 5;
  double cost_now = 0;
  ASSERT_TRUE(problem->Evaluate({}, &cost_now, nullptr, nullptr, nullptr));
  EXPECT_NEAR(cost_now, problem.linearize().residuals.squaredNorm() / 2, 1e-10 * cost_now);
}

}  // namespace
}  // namespace calque::test
