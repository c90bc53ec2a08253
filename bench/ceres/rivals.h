#pragma once
// Plain Ceres: automatic derivatives by its dual numbers, ceres::Jet. Jacobians of all first blocks, then of all
// second.
#include "ceres/functors.h"

void curve_jet(const Observations& o, double* residuals, double* jacobians);
void rotation_jet(const Observations& o, double* residuals, double* jacobians);
void reprojection_jet(const Observations& o, double* residuals, double* jacobians);
void poses_jet(const Observations& o, double* residuals, double* jacobians);

/// A bundle adjustment of reprojections, made once; `solve_plain` returns the final cost.
struct PlainProblem;
PlainProblem* make_plain(const Observations& o);
void free_plain(PlainProblem* problem);
double solve_plain(PlainProblem& problem, int iterations, int threads);
