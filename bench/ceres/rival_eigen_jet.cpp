// Native code must not share inline functions with the rest of the program.
#define models models_native
#include <ceres/autodiff_cost_function.h>
#include <ceres/problem.h>
#include <ceres/solver.h>

#include "ceres/rivals.h"

namespace {

/// The functor of an observation, whose members are the numbers of its columns.
template <class F, size_t... C>
F functor_of(const Observations& o, int64_t i, std::index_sequence<C...>) {
  return F{o.columns[static_cast<int64_t>(C) * o.count + i]...};
}

template <class F, int Columns, int R, int N, int M>
void evaluate(const Observations& o, double* residuals, double* jacobians) {
  double* second = jacobians + o.count * R * N;
  for (int64_t i = 0; i < o.count; ++i) {
    const F f = functor_of<F>(o, i, std::make_index_sequence<Columns>());
    const double* blocks[] = {o.first + o.first_of[i] * N, o.second + o.second_of[i] * M};
    double* to[] = {jacobians + i * R * N, second + i * R * M};
    using Dims = ceres::internal::StaticParameterDims<N, M>;
    ceres::internal::AutoDifferentiate<R, Dims>(f, blocks, R, residuals + i * R, to);
  }
}

}  // namespace

void curve_jet(const Observations& o, double* residuals, double* jacobians) {
  evaluate<models::Curve<double>, 2, 1, 1, 1>(o, residuals, jacobians);
}
void rotation_jet(const Observations& o, double* residuals, double* jacobians) {
  evaluate<models::Rotated<double>, 3, 3, 3, 3>(o, residuals, jacobians);
}
void reprojection_jet(const Observations& o, double* residuals, double* jacobians) {
  evaluate<models::Projection<double>, 2, 2, 9, 3>(o, residuals, jacobians);
}
void poses_jet(const Observations& o, double* residuals, double* jacobians) {
  evaluate<models::Between<double>, 6, 6, 6, 6>(o, residuals, jacobians);
}

struct PlainProblem {
  ceres::Problem problem;
};

PlainProblem* make_plain(const Observations& o) {
  using Functor = models::Projection<double>;
  auto* plain = new PlainProblem;
  for (int64_t i = 0; i < o.count; ++i) {
    auto* functor = new Functor(functor_of<Functor>(o, i, std::make_index_sequence<2>()));
    plain->problem.AddResidualBlock(new ceres::AutoDiffCostFunction<Functor, 2, 9, 3>(functor), nullptr,
                                    o.first + o.first_of[i] * 9, o.second + o.second_of[i] * 3);
  }
  return plain;
}

void free_plain(PlainProblem* plain) { delete plain; }

double solve_plain(PlainProblem& plain, int iterations, int threads) {
  ceres::Solver::Options options;
  options.linear_solver_type = ceres::SPARSE_SCHUR;
  options.max_num_iterations = iterations;
  options.num_threads = threads;
  options.function_tolerance = 0;
  options.logging_type = ceres::SILENT;
  ceres::Solver::Summary summary;
  ceres::Solve(options, &plain.problem, &summary);
  return summary.final_cost;
}
