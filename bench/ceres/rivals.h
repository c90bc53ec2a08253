#pragma once
// Plain Ceres: automatic derivatives by its dual numbers, ceres::Jet. Jacobians of all first blocks, then of all
// second.
#include "ceres/functors.h"

void curve_jet(const Observations& o, double* residuals, double* jacobians);
void rotation_jet(const Observations& o, double* residuals, double* jacobians);
void reprojection_jet(const Observations& o, double* residuals, double* jacobians);
void poses_jet(const Observations& o, double* residuals, double* jacobians);
/// With the corrections of the loss.
void bearing_jet(const Observations& o, double* residuals, double* jacobians);

/// What ceres::Solve says of one solution; times in seconds. The evaluation is that of residuals and Jacobians.
struct Solved {
  double cost, total, evaluation, linear_solver;
};

/// A bundle adjustment of reprojections, made once.
class PlainProblem {
 public:
  virtual ~PlainProblem() = default;
  virtual Solved solve(int iterations) = 0;
};
/// Compiled with the native flags of rivals, and with the optimisation of most programs, -O2.
PlainProblem* make_native(const Observations& o);
PlainProblem* make_portable(const Observations& o);
