// Regression with a Gaussian process (Rasmussen and Williams, 2006, algorithms 2.1 and 5.1): the evidence of the data
// by a Cholesky factor, its gradient and its Hessian by the logarithms of length scale, amplitude and noise, ascent by
// Adam and then Newton's method. Checked against the formula of the gradient and the posterior in Eigen's numbers.
// Writes gaussian_process.svg: the data, the mean and its band, which is wide where there are no data.
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <tuple>
#include <utility>

#include <calque/calque.h>
#include <calque/eigen.h>

#include "pictures/plot.h"

namespace cq = calque;

using Array = cq::Array<double>;

constexpr int64_t kPoints = 60;
constexpr double kNoise = 0.2;

const auto truth = [](const auto& x) { return sin(2.0 * x) + 0.3 * x; };

/// The squared exponential kernel of each of x with each of z; p: logarithms of length scale, amplitude and noise.
const auto kernel = [](const auto& p, const auto& x, const auto& z) {
  auto distance = (x.at(cq::all, cq::newaxis) - z) / exp(p[0]);
  return exp(2.0 * p[1] - 0.5 * distance * distance);
};

/// The Cholesky factor of the covariance of the data.
const auto factor = [](const auto& p, const auto& x) {
  return cq::linalg::cholesky(kernel(p, x, x) + exp(2.0 * p[2]) * cq::eye<double>(kPoints));
};

/// The logarithm of the marginal likelihood of the data.
const auto evidence = [](const auto& p, const auto& x, const auto& y) {
  auto l = factor(p, x);
  auto z = cq::linalg::triangular_solve(l, y);
  return -0.5 * sum(z * z) - sum(log(diagonal(l))) - 0.5 * kPoints * std::log(2 * std::acos(-1.0));
};

/// A compiled loop of steps of Adam, and one of Newton's method, which ends at the maximum.
const auto fit = [](const auto& start, const auto& x, const auto& y) {
  auto adam = [x, y](auto i, auto state) {
    auto [p, m, v] = state;
    auto g = cq::grad(evidence)(p, x, y);
    auto next_m = 0.9 * m + 0.1 * g;
    auto next_v = 0.99 * v + 0.01 * g * g;
    auto t = cq::cast<double>(i + 1);
    auto rate = 0.1 * sqrt(1.0 - pow(0.99, t)) / (1.0 - pow(0.9, t));
    return std::tuple{p + rate * next_m / (sqrt(next_v) + 1e-8), next_m, next_v};
  };
  auto newton = [x, y](auto, auto p) {
    return p - cq::linalg::solve(cq::hessian(evidence)(p, x, y), cq::grad(evidence)(p, x, y));
  };
  auto zero = cq::zeros<double>({3});
  auto p = std::get<0>(cq::fori_loop(0, 60, adam, std::tuple{start, zero, zero}));
  return cq::fori_loop(0, 5, newton, p);
};

/// Mean and variance of the function at z, given the data.
const auto posterior = [](const auto& p, const auto& x, const auto& y, const auto& z) {
  auto l = factor(p, x);
  auto across = kernel(p, x, z);
  auto v = cq::linalg::triangular_solve(l, across);
  return std::pair{matmul(cq::linalg::cho_solve(l, y), across), exp(2.0 * p[1]) - sum(v * v, {0})};
};

int main() {
  const auto [of_x, of_noise] = cq::random::split(cq::random::key(2006));
  const Array unit = cq::random::uniform<double>(of_x, {kPoints});
  const Array x = where(unit < 0.6, 5.0 * unit, 5.0 * unit + 2.0);  // nothing between 3 and 5
  const Array y = truth(x) + kNoise * cq::random::normal<double>(of_noise, {kPoints});

  const Array start = {0.0, 0.0, 0.0};
  const auto evidence_and_gradient = cq::jit(cq::value_and_grad(evidence));
  const auto [before, slope] = evidence_and_gradient(start, x, y);
  const Array p = cq::jit(fit)(start, x, y);
  const auto [after, slope_at_end] = evidence_and_gradient(p, x, y);
  // The inverse of the negative Hessian: the covariance of the logarithms where the evidence is nearly normal.
  const Array deviation = sqrt(cq::diagonal(cq::linalg::inv(-cq::jit(cq::hessian(evidence))(p, x, y))));
  const char* names[] = {"length scale", "amplitude", "noise"};
  std::cout << "log evidence " << before << " at the start, " << after << " at the end\n";
  for (int i = 0; i < 3; ++i)
    std::cout << names[i] << ' ' << std::exp(p(i)) << ", within a factor of " << std::exp(2 * deviation(i)) << '\n';

  const Array z = Array::linspace(-0.5, 7.5, 161);
  const auto [center, variance] = cq::jit(posterior)(p, x, y, z);
  const Array width = 2.0 * sqrt(variance);
  const double covered = mean(cq::cast<double>(abs(truth(z) - center) < width)).item();
  std::cout << 100 * covered << " % of the function is in the band of two standard deviations\n";

  // In Eigen's numbers, with another factorization: the gradient at the start, tr((a a' - inverse(c)) dc/dp) / 2 with
  // a = inverse(c) y, and the posterior at the end.
  const auto covariance = [&](const Array& at) -> Eigen::MatrixXd {
    const Eigen::MatrixXd k = kernel(at, x, x);
    return k + std::exp(2 * at(2)) * Eigen::MatrixXd::Identity(kPoints, kPoints);
  };
  const Eigen::VectorXd numbers_x = x, numbers_y = y;
  const Eigen::MatrixXd c = covariance(start), inverse = c.ldlt().solve(Eigen::MatrixXd::Identity(kPoints, kPoints));
  const Eigen::VectorXd a = inverse * numbers_y;
  const Eigen::MatrixXd k = kernel(start, x, x), difference = a * a.transpose() - inverse;
  const Eigen::MatrixXd squares =
      (numbers_x.replicate(1, kPoints) - numbers_x.transpose().replicate(kPoints, 1)).cwiseAbs2();
  const Eigen::Vector3d formula(0.5 * difference.cwiseProduct(k.cwiseProduct(squares)).sum(),
                                difference.cwiseProduct(k).sum(), difference.trace());
  const Eigen::Vector3d gradient = slope;
  const double log_det = c.ldlt().vectorD().array().log().sum();
  const double by_eigen = -0.5 * (numbers_y.dot(a) + log_det + kPoints * std::log(2 * std::acos(-1.0)));
  const Eigen::MatrixXd across = kernel(p, x, z), weights = covariance(p).ldlt().solve(across);
  const Eigen::VectorXd center_by_eigen = weights.transpose() * numbers_y,
                        variance_by_eigen =
                            std::exp(2 * p(1)) - weights.cwiseProduct(across).colwise().sum().transpose().array();

  const auto numbers = [](const Array& v) { return pictures::Numbers(v.host().begin(), v.host().end()); };
  pictures::Plot plot("Regression with a Gaussian process", "x", "y");
  plot.band(numbers(z), numbers(center - width), numbers(center + width), "#4c8dd6");
  plot.curve(numbers(z), numbers(truth(z)), "#808080");
  plot.curve(numbers(z), numbers(center), "#4c8dd6", 2);
  plot.points(numbers(x), numbers(y), "#e07b39", 3);
  plot.label("data", "#e07b39");
  plot.label("posterior mean, plus and minus two standard deviations", "#4c8dd6");
  plot.label("the function that the data were drawn from", "#808080");
  plot.write("gaussian_process.svg");

  const auto require = [](bool right, const char* what) {
    if (!right) std::cout << "wrong: " << what << '\n';
    return right;
  };
  bool right = require(std::abs(before.item() - by_eigen) < 1e-10 * std::abs(by_eigen), "the evidence");
  right &= require((gradient - formula).norm() < 1e-10 * formula.norm(), "the gradient of the evidence");
  right &= require(amax(abs(slope_at_end)).item() < 1e-7 && after.item() > before.item(), "the end is no maximum");
  right &= require((Eigen::VectorXd(center) - center_by_eigen).norm() < 1e-8, "the posterior mean");
  right &= require((Eigen::VectorXd(variance) - variance_by_eigen).norm() < 1e-8, "the posterior variance");
  right &= require(std::abs(p(2) - std::log(kNoise)) < 2 * deviation(2), "the noise that was found");
  right &= require(covered > 0.9, "the band");
  return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
