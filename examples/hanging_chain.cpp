// A chain of springs hangs in equilibrium, where its energy is least; the weights at its joints are found for which the
// joints lie on a given curve. Newton's method finds the shape for the weights, and inside of another Newton's method
// the weights for the shape: derivatives of the shape, of the first and second order, are those of the equilibrium, by
// the implicit function theorem, not of the steps that found it. Writes hanging_chain.svg.
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <utility>

#include <calque/calque.h>

#include "pictures/plot.h"

namespace cq = calque;

using Array = cq::Array<double>;

constexpr int64_t kJoints = 9;
constexpr double kSpan = 10, kStiffness = 40, kLength = 1.05;

/// Where the joints are.
template <class A>
struct Joints {
  A x, y;
};

/// Between the supports (0, 0) and (kSpan, 0): stretched springs and lifted weights.
const auto energy = [](auto joints, auto weights) {
  auto from_support = [](auto v, double end) { return pad(pad(v, 0.0, {1}, {0}), end, {0}, {1}); };
  auto x = from_support(joints.x, kSpan), y = from_support(joints.y, 0.0);
  auto rest = cq::range(1, kJoints + 2), before = cq::range(0, kJoints + 1);
  auto length = hypot(x.at(rest) - x.at(before), y.at(rest) - y.at(before));
  return 0.5 * kStiffness * sum(square(length - kLength)) + sum(weights * joints.y);
};

/// The equilibrium; the first guess is a slack chain.
const auto hang = [](auto weights) {
  auto t = cq::linspace<double>(0, 1, kJoints + 2).at(cq::range(1, kJoints + 1));
  return cq::minimize_newton(energy, Joints{kSpan * t, -4.0 * t * (1.0 - t)}, weights);
};

int main() {
  const Array t = Array::linspace(0, 1, kJoints + 2).at(cq::range(1, kJoints + 1));
  const Array wanted = -5.0 * t * (1.0 - t) * (1.7 - 0.7 * t);  // deepest on the left

  // Logarithms of the weights, which are positive, for which the joints have the heights wanted.
  const auto miss = [](auto logs, auto heights) {
    return sum(square(hang(exp(logs)).y - heights)) + 1e-8 * sum(square(logs));
  };
  const auto find = cq::jit([=](auto heights) {
    return cq::minimize_newton_and_info(miss, cq::zeros<double>({kJoints}), heights, {.tolerance = 1e-9});
  });
  const auto [logs, info] = find(wanted);
  const Array weights = exp(logs);
  const auto before = cq::jit(hang)(Array::ones({kJoints})), after = cq::jit(hang)(weights);
  std::cout << "weights " << weights << "\nfound in " << info.iterations << " steps, off by at most "
            << amax(abs(after.y - wanted)) << '\n';

  const auto numbers = [](const Array& a, double end) {
    pictures::Numbers all{0};
    all.insert(all.end(), a.host().begin(), a.host().end());
    all.push_back(end);
    return all;
  };
  pictures::Plot plot("Weights for a shape", "x", "height");
  plot.curve(numbers(before.x, kSpan), numbers(before.y, 0), "#808080");
  plot.points(numbers(before.x, kSpan), numbers(before.y, 0), "#808080", 3);
  plot.curve(numbers(after.x, kSpan), numbers(after.y, 0), "#4c8dd6", 2);
  plot.points(numbers(after.x, kSpan), numbers(wanted, 0), "#e07b39", 4);
  plot.label("the chain with equal weights", "#808080");
  plot.label("with the weights found", "#4c8dd6");
  plot.label("heights wanted of its joints", "#e07b39");
  plot.write("hanging_chain.svg");

  // Forces balance at the joints, and the derivative is that of differences.
  const auto force = cq::grad(energy)(after, weights);
  const auto lowest = [](auto w) { return hang(w).y.at(kJoints / 2); };
  const Array slopes = cq::jit(cq::grad(lowest))(weights);
  const Array step = Array::zeros({kJoints}).set(0, 1e-4);
  const auto at = cq::jit(lowest);
  const double difference = (at(Array(weights + step)).item() - at(Array(weights - step)).item()) / 2e-4;
  const auto require = [](bool right, const char* what) {
    if (!right) std::cout << "wrong: " << what << '\n';
    return right;
  };
  bool right = require(info.converged.item(), "the weights did not converge");
  right &= require(amax(abs(after.y - wanted)).item() < 1e-3, "the heights");
  right &= require(amax(abs(force.x)).item() < 1e-9 && amax(abs(force.y)).item() < 1e-9, "the balance of forces");
  right &= require(std::abs(slopes[0].item() - difference) < 1e-7, "the derivative of a height by a weight");
  return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
