// The penalty of a smooth fit, found by differentiating through the fit: coefficients solve a regularized least squares
// problem, and the error on other data is a function of the penalty by way of the solution. The derivative of `solve`
// is that of the implicit function theorem: one more system with the same factors. Checked against its formula in
// Eigen's numbers and against `lstsq`. Writes implicit_least_squares.svg and implicit_least_squares_fit.svg.
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <utility>

#include <calque/calque.h>
#include <calque/eigen.h>

#include "pictures/plot.h"

namespace cq = calque;

using Array = cq::Array<double>;

constexpr int64_t kBumps = 30, kPoints = 50;
constexpr double kNoise = 0.25;

const auto truth = [](const auto& x) { return sin(6.0 * x * x) + 0.5 * x; };

/// The values at each x of bumps at equal distances in [0, 1].
const auto bumps = [](const auto& x) {
  auto t = (x.at(cq::all, cq::newaxis) - cq::linspace<double>(0, 1, kBumps)) * double(kBumps - 1);
  return exp(-0.25 * t * t);
};

/// Second differences of the coefficients, as a matrix.
const auto roughness = [] {
  auto one = cq::eye<double>(kBumps);
  auto part = [one](int64_t first) { return one.at(cq::range(first, first + kBumps - 2)); };
  return part(0) - 2.0 * part(1) + part(2);
};

/// The coefficients w for which |bumps w - y|^2 + exp(log_penalty) |roughness w|^2 is least.
const auto fit = [](const auto& log_penalty, const auto& x, const auto& y) {
  auto a = bumps(x), d = roughness();
  return cq::linalg::solve(matmul(a.T(), a) + exp(log_penalty) * matmul(d.T(), d), matmul(a.T(), y));
};

/// The same without normal equations.
const auto fit_by_lstsq = [](const auto& log_penalty, const auto& x, const auto& y) {
  auto a = cq::concatenate({bumps(x), exp(0.5 * log_penalty) * roughness()}, 0);
  return std::get<0>(cq::linalg::lstsq(a, pad(y, 0.0, {0}, {kBumps - 2})));
};

struct Data {
  Array x, y;
};

int main() {
  const auto keys = cq::random::split(cq::random::key(1975), 4);
  const auto draw = [](const auto& of_x, const auto& of_noise) {
    const Array x = cq::random::uniform<double>(of_x, {kPoints});
    return Data{x, truth(x) + kNoise * cq::random::normal<double>(of_noise, {kPoints})};
  };
  const Data data = draw(keys[0], keys[1]), other = draw(keys[2], keys[3]);

  // The mean square error on the other data, as a function of the penalty alone: the data are captured.
  const auto error_of = [=](const auto& solver) {
    return [=](const auto& log_penalty) {
      return mean(square(matmul(bumps(other.x), solver(log_penalty, data.x, data.y)) - other.y));
    };
  };
  const auto error = error_of(fit);

  // Newton's method with steps of at most 1, from a penalty that is far too small; second derivatives are of the
  // solution, too.
  const auto descend = cq::jit([=](const auto& start) {
    auto step = [=](auto p, auto) {
      auto slope = cq::grad(error)(p), curvature = cq::grad(cq::grad(error))(p);
      return std::pair{p - clip(slope / abs(curvature), -1.0, 1.0), p};
    };
    return cq::scan(step, start, cq::arange<int32_t>(20)).second;
  });
  const Array visited = descend(-8.0);
  const double found = visited[-1].item();

  // All penalties of a grid at once, and two fits to look at.
  const Array grid = Array::linspace(-8, 7, 61), x = Array::linspace(0, 1, 201);
  const auto [errors, slopes] = cq::jit(cq::vmap(cq::value_and_grad(error)))(grid);
  const double best = grid(argmin(errors, 0).item());
  const auto curve = cq::jit([=](const auto& p) { return matmul(bumps(x), fit(p, data.x, data.y)); });
  const Array fitted = curve(found), rough = curve(-8.0);
  const auto distance = [&](const Array& y) { return std::sqrt(mean(square(y - truth(x))).item()); };
  std::cout << "penalty " << std::exp(found) << ", the best of the grid " << std::exp(best)
            << "\nroot mean square distance from the truth " << distance(fitted) << ", at the start " << distance(rough)
            << '\n';

  const auto numbers = [](const Array& a) { return pictures::Numbers(a.host().begin(), a.host().end()); };
  pictures::Plot search("Newton's method on the penalty", "logarithm of the penalty",
                        "mean square error on other data");
  search.curve(numbers(grid), numbers(errors), "#4c8dd6", 2);
  search.points(numbers(visited), numbers(cq::vmap(error)(visited)), "#e07b39", 4);
  search.label("error of the fit with this penalty", "#4c8dd6");
  search.label("steps, by derivatives through the fit", "#e07b39");
  search.write("implicit_least_squares.svg");
  pictures::Plot fits("The fit with the penalty that was found", "x", "y");
  fits.points(numbers(data.x), numbers(data.y), "#e07b39", 3);
  fits.curve(numbers(x), numbers(truth(x)), "#808080");
  fits.curve(numbers(x), numbers(rough), "#56a868", 1.2);
  fits.curve(numbers(x), numbers(fitted), "#4c8dd6", 2);
  fits.label("data", "#e07b39");
  fits.label("the function that the data were drawn from", "#808080");
  fits.label("fit with the penalty at the start", "#56a868");
  fits.label("fit with the penalty found", "#4c8dd6");
  fits.write("implicit_least_squares_fit.svg");

  // The implicit function theorem in Eigen's numbers: (a'a + l d'd) dw = -l d'd w for the logarithm of the penalty l.
  const double p = 1;
  const auto [value, slope] = cq::value_and_grad(error)(p);
  const Eigen::MatrixXd a = cq::jit(bumps)(data.x), d = cq::jit(roughness)(), b = cq::jit(bumps)(other.x);
  const Eigen::MatrixXd penalty = std::exp(p) * d.transpose() * d;
  const Eigen::LDLT<Eigen::MatrixXd> factors(a.transpose() * a + penalty);
  const Eigen::VectorXd w = factors.solve(a.transpose() * Eigen::VectorXd(data.y)), dw = factors.solve(-penalty * w);
  const Eigen::VectorXd off = b * w - Eigen::VectorXd(other.y);
  const double slope_by_eigen = 2 * off.dot(b * dw) / kPoints;
  const double slope_by_lstsq = cq::grad(error_of(fit_by_lstsq))(p).item();

  const auto require = [](bool right, const char* what) {
    if (!right) std::cout << "wrong: " << what << '\n';
    return right;
  };
  const auto near = [](double x, double y, double error) { return std::abs(x - y) < error * std::abs(y); };
  bool right = require(near(value.item(), off.squaredNorm() / kPoints, 1e-10), "the error");
  right &= require(near(slope.item(), slope_by_eigen, 1e-8), "the slope, against its formula");
  right &= require(near(slope.item(), slope_by_lstsq, 1e-8), "the slope, against lstsq");
  right &= require(near(slopes[36].item(), slope_by_eigen, 1e-8), "the slope in the batch");
  right &= require(std::abs(found - best) < 0.25, "the penalty found is not the best one");
  right &= require(distance(fitted) < 0.8 * distance(rough) && distance(fitted) < kNoise, "the fit");
  return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
