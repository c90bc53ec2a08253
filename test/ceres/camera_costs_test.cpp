// cost_function of cameras and rotations: Jacobians, blocks that are not asked for, threads.
#include <array>
#include <memory>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "calque/ceres.h"

#include "evaluated.h"
#include "models.h"

namespace calque::test {
namespace {

constexpr double kCamera[9] = {0.1, -0.2, 0.3, 0.4, 0.1, -5, 500, 0.01, -0.002}, kPoint[3] = {0.3, -0.7, 0.2};

TEST(CameraCosts, AsAutomaticDerivativesOfCeres) {
  const double still[3] = {0, 0, 0};
  compare<2, 9, 3>(Projection<double>{100, -20}, {kCamera, kPoint});
  compare<3, 3, 3>(Rotated<double>{1, 2, 3}, {kCamera, kPoint});
  compare<3, 3, 3>(Rotated<double>{1, 2, 3}, {still, kPoint});
}

TEST(CameraCosts, WritesOnlyWhatIsAskedFor) {
  const std::unique_ptr<::ceres::CostFunction> cost(ceres::cost_function<2, 9, 3>(Projection<double>{1, 2}));
  const double* parameters[] = {kCamera, kPoint};
  double residuals[2], of_point[6];
  double* jacobians[] = {nullptr, of_point};
  EXPECT_TRUE(cost->Evaluate(parameters, residuals, nullptr));
  EXPECT_TRUE(cost->Evaluate(parameters, residuals, jacobians));
  const Evaluated<2, 9, 3> all(*cost, {kCamera, kPoint});
  for (size_t i = 0; i < 6; ++i) EXPECT_EQ(of_point[i], all.jacobians[1][i]);
}

TEST(CameraCosts, OfSeveralThreads) {
  const std::unique_ptr<::ceres::CostFunction> cost(ceres::cost_function<2, 9, 3>(Projection<double>{1, 2}));
  const Evaluated<2, 9, 3> expected(*cost, {kCamera, kPoint});
  std::vector<std::thread> threads;
  std::array<bool, 4> same{};
  for (size_t t = 0; t < same.size(); ++t) {
    threads.emplace_back([&, t] {
      same[t] = true;
      for (int i = 0; i < 200; ++i) {
        const Evaluated<2, 9, 3> one(*cost, {kCamera, kPoint});
        same[t] = same[t] && one.residuals == expected.residuals && one.jacobians == expected.jacobians;
      }
    });
  }
  for (std::thread& t : threads) t.join();
  for (const bool s : same) EXPECT_TRUE(s);
}

}  // namespace
}  // namespace calque::test
