#pragma once
// Options with which Ceres converges to the last digits.
#include <ceres/solver.h>

namespace calque::test {

inline ::ceres::Solver::Options options() {
  ::ceres::Solver::Options o;
  o.max_num_iterations = 50;
  o.function_tolerance = 1e-14;
  o.gradient_tolerance = 1e-14;
  o.parameter_tolerance = 1e-14;
  o.logging_type = ::ceres::SILENT;
  return o;
}

}  // namespace calque::test
