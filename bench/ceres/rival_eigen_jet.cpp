// Native code must not share inline functions with the rest of the program.
#define models models_native
#include <cmath>

#include <ceres/loss_function.h>

#include "ceres/plain_problem.h"
#include "ceres/rivals.h"

namespace {

/// The functor of an observation, whose members are the numbers of its columns.
template <class F, size_t... C>
F functor_of(const Observations& o, int64_t i, std::index_sequence<C...>) {
  return F{o.columns[static_cast<int64_t>(C) * o.count + i]...};
}

/// Scales the residuals and Jacobians of one observation as Ceres does inside for its loss.
template <int R, int N, int M>
void correct(const ceres::LossFunction& loss, double* r, double* const* jacobians) {
  double square = 0, rho[3];
  for (int i = 0; i < R; ++i) square += r[i] * r[i];
  loss.Evaluate(square, rho);
  const double root = std::sqrt(rho[1]);
  double scale = root, share = 0;
  if (square > 0 && rho[2] > 0) {
    const double alpha = 1 - std::sqrt(1 + 2 * square * rho[2] / rho[1]);
    scale = root / (1 - alpha);
    share = alpha / square;
  }
  const auto correct_block = [&](double* j, int columns) {
    for (int c = 0; c < columns; ++c) {
      double along = 0;
      if (share != 0) {
        for (int i = 0; i < R; ++i) along += r[i] * j[i * columns + c];
      }
      for (int i = 0; i < R; ++i) j[i * columns + c] = root * (j[i * columns + c] - share * along * r[i]);
    }
  };
  correct_block(jacobians[0], N);
  correct_block(jacobians[1], M);
  for (int i = 0; i < R; ++i) r[i] *= scale;
}

template <class F, int Columns, int R, int N, int M>
void evaluate(const Observations& o, double* residuals, double* jacobians, const ceres::LossFunction* loss = nullptr) {
  double* second = jacobians + o.count * R * N;
  for (int64_t i = 0; i < o.count; ++i) {
    const F f = functor_of<F>(o, i, std::make_index_sequence<Columns>());
    const double* blocks[] = {o.first + o.first_of[i] * N, o.second + o.second_of[i] * M};
    double* to[] = {jacobians + i * R * N, second + i * R * M};
    using Dims = ceres::internal::StaticParameterDims<N, M>;
    ceres::internal::AutoDifferentiate<R, Dims>(f, blocks, R, residuals + i * R, to);
    if (loss != nullptr) correct<R, N, M>(*loss, residuals + i * R, to);
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

void bearing_jet(const Observations& o, double* residuals, double* jacobians) {
  const ceres::CauchyLoss loss(models::kBearingLoss);
  evaluate<models::Bearing<double>, 3, 3, 6, 3>(o, residuals, jacobians, &loss);
}

PlainProblem* make_native(const Observations& o) { return new PlainBundle(o); }
