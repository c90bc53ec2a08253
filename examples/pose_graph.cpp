// A pose graph: a vehicle drives two rounds of a winding ramp and measures its motion from pose to pose, with errors
// that add up, and the motion to the pose below when it passes above it. Gauss-Newton on the manifold SE(3) finds the
// poses that agree best with all measurements: residuals are steps of se3_minus, and Jacobians are those by steps of
// se3_plus at zero, all of them from one compiled call. Eigen solves the sparse system. Writes pose_graph.svg, the view
// from above.
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <utility>
#include <vector>

#include <Eigen/Sparse>
#include <calque/calque.h>
#include <calque/eigen.h>

#include "pictures/plot.h"

namespace cq = calque;

using Array = cq::Array<double>;
using Indices = cq::Array<int32_t>;

constexpr int64_t kRound = 60, kPoses = 2 * kRound;

/// The motion from pose p to pose q, both [7]: a unit quaternion and a translation.
const auto motion = [](const auto& p, const auto& q) {
  const auto back = cq::quaternion_conjugate(p.at(cq::range(0, 4)));
  const auto shift = q.at(cq::range(4, 7)) - p.at(cq::range(4, 7));
  return concatenate(
      std::vector{cq::quaternion_product(back, q.at(cq::range(0, 4))), cq::quaternion_rotate(back, shift)}, 0);
};
/// The pose that the motion m leads to from pose p.
const auto moved = [](const auto& p, const auto& m) {
  const auto turn = p.at(cq::range(0, 4));
  return concatenate(std::vector{cq::quaternion_product(turn, m.at(cq::range(0, 4))),
                                 p.at(cq::range(4, 7)) + cq::quaternion_rotate(turn, m.at(cq::range(4, 7)))},
                     0);
};

/// What a measured motion of an edge says about two poses after steps from where they are.
const auto residual = [](const auto& edge, const auto& step_p, const auto& step_q) {
  const auto& [p, q, measured] = edge;
  return cq::se3_minus(motion(cq::se3_plus(p, step_p), cq::se3_plus(q, step_q)), measured);
};
/// Residuals [e, 6] and their Jacobians [e, 6, 6] by the steps of both poses.
const auto linearize = [](const auto& poses, const auto& from, const auto& to, const auto& measured) {
  const auto edge = [](const auto& p, const auto& q, const auto& m) {
    const auto zero = cq::zeros<double>({6});
    return cq::residuals_and_jacobians(
        [=](const auto& a, const auto& b) { return residual(std::tuple{p, q, m}, a, b); })(zero, zero);
  };
  return cq::vmap(edge)(take(poses, from, 0), take(poses, to, 0), measured);
};

int main() {
  // The true poses, and measurements with noise.
  std::vector<int32_t> from, to;
  for (int32_t i = 0; i + 1 < kPoses; ++i) from.push_back(i), to.push_back(i + 1);
  for (int32_t i = 0; i < kRound; i += 3) from.push_back(i), to.push_back(i + static_cast<int32_t>(kRound));
  const auto edges = static_cast<int64_t>(from.size());
  const Array t = (2 * M_PI / kRound) * Array::arange(kPoses), r = 10.0 + 2.0 * cos(3.0 * t);
  const Array position = cq::stack(std::vector{r * cos(t), r * sin(t), 0.3 * t}, 1);
  const Array heading = cq::stack(std::vector{0.0 * t, 0.05 * sin(2.0 * t), t + M_PI / 2}, 1);
  const Array truth = concatenate(std::vector{cq::angle_axis_to_quaternion(heading), position}, 1);
  const auto deviations = [] { return cq::Array<double>{0.004, 0.004, 0.015, 0.05, 0.05, 0.02}; };
  const Array noise = deviations() * cq::random::normal<double>(cq::random::key(6), {edges, 6});
  const Indices p = Indices::from(from), q = Indices::from(to);
  const Array measured = cq::jit([](const auto& poses, const auto& p, const auto& q, const auto& noise) {
    const auto one = [](const auto& a, const auto& b, const auto& n) { return cq::se3_plus(motion(a, b), n); };
    return cq::vmap(one)(take(poses, p, 0), take(poses, q, 0), noise);
  })(truth, p, q, noise);

  // Dead reckoning: each pose from the one before.
  std::vector<Array> chain = {truth[0]};
  const auto next = cq::jit(moved);
  for (int64_t i = 0; i + 1 < kPoses; ++i) chain.push_back(next(chain.back(), Array(measured[i])));
  const Array reckoned = cq::stack(chain, 0);

  const auto system = cq::jit(linearize);
  const auto step_all = cq::jit(cq::vmap([](const auto& pose, const auto& step) { return cq::se3_plus(pose, step); }));
  Array poses = reckoned;
  double cost = 0, size = 1;
  int steps = 0;
  for (; steps < 20 && size > 1e-9; ++steps) {
    const auto [residuals, jacobians] = system(poses, p, q, measured);
    const auto& [by_p, by_q] = jacobians;
    cost = 0.5 * sum(square(residuals / deviations())).item();
    // The first pose stays: its columns are left out.
    std::vector<Eigen::Triplet<double>> entries;
    Eigen::VectorXd right(6 * edges);
    const auto weights = deviations();
    for (int64_t e = 0; e < edges; ++e) {
      for (int64_t k = 0; k < 6; ++k) {
        right[6 * e + k] = residuals(e, k) / weights(k);
        for (int64_t c = 0; c < 6; ++c) {
          const auto add = [&](int64_t pose, double value) {
            if (pose > 0) entries.emplace_back(6 * e + k, 6 * (pose - 1) + c, value / weights(k));
          };
          add(from[static_cast<size_t>(e)], by_p(e, k, c));
          add(to[static_cast<size_t>(e)], by_q(e, k, c));
        }
      }
    }
    Eigen::SparseMatrix<double> jacobian(6 * edges, 6 * (kPoses - 1));
    jacobian.setFromTriplets(entries.begin(), entries.end());
    const Eigen::SimplicialLDLT<Eigen::SparseMatrix<double>> factors(jacobian.transpose() * jacobian);
    Eigen::VectorXd step = Eigen::VectorXd::Zero(6 * kPoses);
    step.tail(6 * (kPoses - 1)) = -factors.solve(jacobian.transpose() * right);
    size = step.cwiseAbs().maxCoeff();
    poses = step_all(poses, Array::from(step).reshape({kPoses, 6}));
  }

  const auto off = [&](const Array& of) {
    return std::sqrt(mean(sum(square((of - truth).at(cq::all, cq::range(4, 7))), {1})).item());
  };
  std::cout << steps << " steps to cost " << cost << "; off by " << off(reckoned) << " before and " << off(poses)
            << " after\n";
  const auto column = [](const Array& a, int64_t k) {
    const Array c = a.at(cq::all, k);
    return pictures::Numbers(c.host().begin(), c.host().end());
  };
  pictures::Plot plot("A pose graph of two rounds, from above", "x", "y");
  plot.equal_scales();
  plot.curve(column(truth, 4), column(truth, 5), "#808080", 1.5);
  plot.curve(column(reckoned, 4), column(reckoned, 5), "#e07b39", 1.5);
  plot.curve(column(poses, 4), column(poses, 5), "#4c8dd6", 2);
  plot.label("true path", "#808080");
  plot.label("motions added up", "#e07b39");
  plot.label("poses that agree best", "#4c8dd6");
  plot.write("pose_graph.svg");
  // The cost of the measurements' noise is half of the number of residuals that the poses leave.
  const double expected = 3.0 * static_cast<double>(edges - kPoses + 1);
  return size <= 1e-9 && off(poses) < 0.5 * off(reckoned) && cost < 1.5 * expected ? EXIT_SUCCESS : EXIT_FAILURE;
}
