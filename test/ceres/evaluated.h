#pragma once
// Cost functions beside those of ceres::AutoDiffCostFunction.
#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <vector>

#include <ceres/autodiff_cost_function.h>
#include <gtest/gtest.h>

#include "calque/ceres.h"

namespace calque::test {

/// Results of one evaluation of a cost function with R residuals.
template <int R, int... N>
struct Evaluated {
  bool valid;
  std::array<double, R> residuals{};
  std::array<std::vector<double>, sizeof...(N)> jacobians{std::vector<double>(static_cast<size_t>(R * N))...};

  Evaluated(const ::ceres::CostFunction& cost, const std::array<const double*, sizeof...(N)>& parameters) {
    std::array<double*, sizeof...(N)> to;
    for (size_t k = 0; k < to.size(); ++k) to[k] = jacobians[k].data();
    valid = cost.Evaluate(parameters.data(), residuals.data(), to.data());
  }
};

template <int R, int... N, class F>
void compare(const F& f, const std::array<const double*, sizeof...(N)>& parameters) {
  const std::unique_ptr<::ceres::CostFunction> ours(ceres::cost_function<R, N...>(f));
  const ::ceres::AutoDiffCostFunction<F, R, N...> theirs(new F(f));
  ASSERT_EQ(ours->parameter_block_sizes(), theirs.parameter_block_sizes());
  ASSERT_EQ(ours->num_residuals(), R);
  const Evaluated<R, N...> a(*ours, parameters), b(theirs, parameters);
  EXPECT_TRUE(a.valid);
  for (size_t r = 0; r < R; ++r) EXPECT_NEAR(a.residuals[r], b.residuals[r], 1e-14 * (1 + std::abs(b.residuals[r])));
  for (size_t k = 0; k < sizeof...(N); ++k) {
    double scale = 1;
    for (const double e : b.jacobians[k]) scale = std::max(scale, std::abs(e));
    for (size_t i = 0; i < b.jacobians[k].size(); ++i) {
      EXPECT_NEAR(a.jacobians[k][i], b.jacobians[k][i], 1e-14 * scale) << "entry " << i << " of block " << k;
    }
  }
}

}  // namespace calque::test
