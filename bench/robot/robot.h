#pragma once
// The forward dynamics of examples/robot for many states at once, and its Jacobian. States are rows of angles,
// velocities and torques: [count, 3 N]. Accelerations are [count, N], Jacobians [count, N, 3 N].
#include <cstddef>

struct Robot {
  int joints;  // 7 or 30
  const double* states;
  size_t count;
};

void accelerations_scalar(const Robot& robot, double* out);
void jacobians_scalar(const Robot& robot, double* out);
void accelerations_lanes(const Robot& robot, double* out);
void jacobians_lanes(const Robot& robot, double* out);
