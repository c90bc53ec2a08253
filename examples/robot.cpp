// Code written for Eigen and any scalar type, here the dynamics of a robot arm, compiled, differentiated and run for
// many states at once.
#include <cmath>
#include <iostream>

#include <calque/calque.h>
#include <calque/eigen.h>

#include "robot/dynamics.h"

namespace cq = calque;

constexpr int kJoints = 7;
using Scalar = cq::Tracer<double>;
using Vector = Eigen::Matrix<Scalar, kJoints, 1>;

int main() {
  const auto links = robot::arm(kJoints);
  // The state: angles, velocities and torques, concatenated.
  const auto forward = [&](auto state) {
    const Vector q = state[cq::range(0, kJoints)], velocity = state[cq::range(kJoints, 2 * kJoints)],
                 torque = state[cq::range(2 * kJoints, 3 * kJoints)];
    return cq::Tracer<double>(robot::forward_dynamics<kJoints, Scalar>(links, q, velocity, torque));
  };
  const Eigen::VectorXd state = Eigen::VectorXd::LinSpaced(3 * kJoints, -1.0, 1.0);

  const Eigen::VectorXd acceleration = cq::jit(forward)(state);
  std::cout << "accelerations, rad/s^2: " << acceleration.transpose() << '\n';

  // The same templates with plain numbers: which torques would give these accelerations?
  using Plain = Eigen::Matrix<double, kJoints, 1>;
  const Plain q = state.head<kJoints>(), velocity = state.segment<kJoints>(kJoints), a = acceleration;
  const Plain torque = robot::inverse_dynamics<kJoints, double>(links, q, velocity, a);
  const double error = (torque - state.tail<kJoints>()).cwiseAbs().maxCoeff();
  std::cout << "error of the torques, N m: " << error << '\n';
  if (!(error < 1e-9)) return 1;

  // The Jacobian of the accelerations by the state, for 1000 states in one call: [1000, 7, 21].
  const auto states = cq::Array<double>::linspace(-1, 1, 1000 * 3 * kJoints).reshape({1000, 3 * kJoints});
  const cq::Array<double> jacobians = cq::jit(cq::vmap(cq::jacfwd(forward)))(states);
  std::cout << "Jacobians: " << jacobians.shape() << '\n';
  const Eigen::MatrixXd last = jacobians[-1];
  // The part by the torques is the inverse of the inertia matrix, which is symmetric.
  const Eigen::MatrixXd inverse_inertia = last.rightCols<kJoints>();
  const double asymmetry = (inverse_inertia - inverse_inertia.transpose()).cwiseAbs().maxCoeff();
  std::cout << "asymmetry of the inverse inertia: " << asymmetry << '\n';
  return asymmetry < 1e-9 * inverse_inertia.cwiseAbs().maxCoeff() ? 0 : 1;
}
