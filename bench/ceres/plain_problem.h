#pragma once
// A bundle adjustment with ceres::AutoDiffCostFunction. Each file that includes it compiles its own with its own flags,
// and defines `models` as a name of its own before.
#include <ceres/autodiff_cost_function.h>
#include <ceres/problem.h>
#include <ceres/solver.h>

#include "ceres/rivals.h"

namespace {

class PlainBundle final : public PlainProblem {
 public:
  explicit PlainBundle(const Observations& o) {
    using Functor = models::Projection<double>;
    for (int64_t i = 0; i < o.count; ++i) {
      auto* functor = new Functor{o.columns[i], o.columns[o.count + i]};
      problem_.AddResidualBlock(new ceres::AutoDiffCostFunction<Functor, 2, 9, 3>(functor), nullptr,
                                o.first + o.first_of[i] * 9, o.second + o.second_of[i] * 3);
    }
  }
  Solved solve(int iterations) override {
    ceres::Solver::Options options;
    options.linear_solver_type = ceres::SPARSE_SCHUR;
    options.max_num_iterations = iterations;
    options.function_tolerance = 0;
    options.logging_type = ceres::SILENT;
    ceres::Solver::Summary s;
    ceres::Solve(options, &problem_, &s);
    return {s.final_cost, s.total_time_in_seconds,
            s.residual_evaluation_time_in_seconds + s.jacobian_evaluation_time_in_seconds,
            s.linear_solver_time_in_seconds};
  }

 private:
  ceres::Problem problem_;
};

}  // namespace
