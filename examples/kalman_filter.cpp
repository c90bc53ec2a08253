// A Kalman filter (Kalman, 1960) that tracks a manoeuvring target in the plane from noisy positions, written for
// Eigen's small matrices: one scan over the measurements, the update by a Cholesky factor, and the noises of the model
// found by the gradient of the likelihood through the whole filter. Checked against the textbook's filter in plain
// numbers and differences of its likelihood. Writes kalman_filter.svg: the path, measurements, and estimates with
// ellipses.
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <tuple>
#include <utility>

#include <calque/calque.h>
#include <calque/eigen.h>

#include "pictures/plot.h"

namespace cq = calque;
using namespace cq::tree_operators;

using Array = cq::Array<double>;
using D = cq::Tracer<double>;

constexpr int kSteps = 90;
constexpr double kNoise = 0.7, kPi = 3.14159265358979324;

/// Logarithms: of the intensity of the target's random acceleration and of the standard deviation of a measurement.
template <class S>
struct Noise {
  S motion, measurement;
};

/// The normal distribution of position and velocity, (x, y, vx, vy).
template <class S>
struct Belief {
  Eigen::Matrix<S, 4, 1> mean;
  Eigen::Matrix<S, 4, 4> covariance;
};

/// A unit of time later: positions move by velocities, velocities by white noise.
template <class S>
Belief<S> predicted(const Belief<S>& b, const Noise<S>& noise) {
  const Eigen::Matrix2d one = Eigen::Matrix2d::Identity(), none = Eigen::Matrix2d::Zero();
  Eigen::Matrix4d move, shaken;
  move << one, one, none, one;
  shaken << one / 3, one / 2, one / 2, one;
  using std::exp;
  const Eigen::Matrix<S, 4, 4> m = move.cast<S>(), q = shaken.cast<S>() * exp(noise.motion);
  return {m * b.mean, m * b.covariance * m.transpose() + q};
}

const Belief<double> kStart{Eigen::Vector4d::Zero(), 25 * Eigen::Matrix4d::Identity()};

/// The log likelihood of the measurements [steps, 2], and means [steps, 4] and covariances [steps, 4, 4].
const auto filter = [](const auto& noise, const auto& measurements) {
  auto step = [noise](auto state, auto measured) {
    const auto& [belief, likelihood] = state;
    const Belief<D> b = predicted(belief, noise);
    cq::Matrix<double, 2, 2> s = b.covariance.template topLeftCorner<2, 2>();
    s.diagonal().array() += exp(2.0 * noise.measurement);
    const cq::Matrix<double, 2, 2> l = cq::linalg::cholesky(s);
    // With l w = error and l v = the rows of positions, the gain's terms are products of w and v.
    const cq::Vector<double, 2> error = cq::Vector<double, 2>(measured) - b.mean.template head<2>();
    const cq::Vector<double, 2> w = cq::linalg::triangular_solve(l, error);
    const cq::Matrix<double, 2, 4> v = cq::linalg::triangular_solve(l, b.covariance.template topRows<2>());
    const Belief<D> next{b.mean + v.transpose() * w, b.covariance - v.transpose() * v};
    const D total = likelihood - 0.5 * w.squaredNorm() - log(l(0, 0) * l(1, 1)) - std::log(2 * kPi);
    return std::pair{std::tuple{next, total}, std::pair{D(next.mean), D(next.covariance)}};
  };
  const Belief<D> start{kStart.mean.cast<D>(), kStart.covariance.cast<D>()};
  auto [last, beliefs] = cq::scan(step, std::tuple{start, D(0.0)}, measurements);
  return std::tuple{std::get<1>(last), beliefs.first, beliefs.second};
};

const auto likelihood = [](const auto& noise, const auto& data) { return std::get<0>(filter(noise, data)); };

/// The filter as textbooks have it, in numbers: with the inverse of the measurement's covariance, and the gain.
std::pair<double, Belief<double>> textbook(const Noise<double>& noise, const Eigen::MatrixXd& measurements) {
  Belief<double> b = kStart;
  double total = 0;
  for (int i = 0; i < kSteps; ++i) {
    b = predicted(b, noise);
    const Eigen::Matrix2d variance = std::exp(2 * noise.measurement) * Eigen::Matrix2d::Identity(),
                          s = b.covariance.topLeftCorner<2, 2>() + variance, inverse = s.inverse();
    const Eigen::Matrix<double, 4, 2> gain = b.covariance.leftCols<2>() * inverse;
    const Eigen::Vector2d error = measurements.row(i).transpose() - b.mean.head<2>();
    total -= 0.5 * (error.dot(inverse * error) + std::log(s.determinant()) + 2 * std::log(2 * kPi));
    b.mean += gain * error;
    b.covariance -= (gain * b.covariance.topRows<2>()).eval();
  }
  return {total, b};
}

int main() {
  // At constant speed: straight, a turn to the left, one to the right, straight, and one to the left.
  Eigen::MatrixXd path(kSteps, 2);
  Eigen::Vector2d at(0, 0);
  double heading = 0;
  for (int i = 0; i < kSteps; ++i) {
    heading += i < 15 ? 0 : i < 30 ? 0.1 : i < 55 ? -0.1 : i < 70 ? 0 : 0.12;
    at += Eigen::Vector2d(std::cos(heading), std::sin(heading));
    path.row(i) = at;
  }
  const Eigen::MatrixXd z = cq::random::normal<double>(cq::random::key(1960), {kSteps, 2});
  const Eigen::MatrixXd measurements = path + kNoise * z;

  // The ascent to the likeliest noises is one compiled loop.
  const auto ascend = cq::jit([](const auto& start, const auto& data) {
    auto step = [data](auto, auto noise) { return noise + 0.4 / kSteps * cq::grad(likelihood)(noise, data); };
    return cq::fori_loop(0, 500, step, start);
  });
  const Noise<Array> guess{0.0, 0.0};
  const auto value_and_slope = cq::jit(cq::value_and_grad(likelihood));
  const auto [before, slope] = value_and_slope(guess, measurements);
  const Noise<Array> found = ascend(guess, measurements);
  const auto slope_at_end = value_and_slope(found, measurements).second;
  const auto [after, means, covariances] = cq::jit(filter)(found, measurements);

  pictures::Plot plot("A target, noisy measurements and the estimate of a Kalman filter", "x", "y");
  plot.equal_scales();
  const Eigen::MatrixXd positions = Eigen::MatrixXd(means).leftCols(2);
  int inside = 0;  // of ellipses of two standard deviations: 86 % of a normal distribution
  for (int i = 0; i < kSteps; ++i) {
    const Eigen::Matrix2d l = Eigen::Matrix4d(covariances[i]).topLeftCorner<2, 2>().llt().matrixL();
    const Eigen::Vector2d off = (path - positions).row(i);
    inside += l.triangularView<Eigen::Lower>().solve(off).norm() < 2;
    const Eigen::ArrayXd angle = Eigen::ArrayXd::LinSpaced(49, 0, 2 * kPi);
    const Eigen::ArrayXd x = positions(i, 0) + 2 * l(0, 0) * cos(angle),
                         y = positions(i, 1) + 2 * (l(1, 0) * cos(angle) + l(1, 1) * sin(angle));
    if (i % 3 == 2) plot.curve({x.begin(), x.end()}, {y.begin(), y.end()}, "#4c8dd6", 1, 0.6);
  }
  const auto column = [](const Eigen::MatrixXd& m, int i) {
    return pictures::Numbers(m.col(i).begin(), m.col(i).end());
  };
  plot.curve(column(path, 0), column(path, 1), "#808080", 2);
  plot.points(column(measurements, 0), column(measurements, 1), "#e07b39", 2.5);
  plot.curve(column(positions, 0), column(positions, 1), "#4c8dd6", 2);
  plot.label("path of the target", "#808080");
  plot.label("measurements", "#e07b39");
  plot.label("estimate, with ellipses of two standard deviations", "#4c8dd6");
  plot.write("kalman_filter.svg");

  const Noise<double> noise{found.motion.item(), found.measurement.item()};
  const double error = std::sqrt((positions - path).rowwise().squaredNorm().mean());
  const double of_measurements = std::sqrt((measurements - path).rowwise().squaredNorm().mean());
  std::cout << "log likelihood " << before << " of the guess, " << after << " of the noises found: motion "
            << std::exp(noise.motion) << ", measurement " << std::exp(noise.measurement) << '\n'
            << "root mean square error " << of_measurements << " of measurements, " << error << " of estimates\n"
            << 100.0 * inside / kSteps << " % of the positions are in their ellipses\n";

  const auto require = [](bool right, const char* what) {
    if (!right) std::cout << "wrong: " << what << '\n';
    return right;
  };
  const auto near = [](double a, double b, double error) { return std::abs(a - b) < error * std::abs(b); };
  const auto difference = [&](double dm, double dz) {
    return (textbook({dm, dz}, measurements).first - textbook({-dm, -dz}, measurements).first) / (2 * (dm + dz));
  };
  const auto [expected, last] = textbook(noise, measurements);
  bool right = require(near(after.item(), expected, 1e-10), "the likelihood");
  right &= require((Eigen::Vector4d(means[-1]) - last.mean).norm() < 1e-9, "the last mean");
  right &= require((Eigen::Matrix4d(covariances[-1]) - last.covariance).norm() < 1e-9, "the last covariance");
  right &= require(near(slope.motion.item(), difference(1e-5, 0), 1e-6), "the derivative by the noise of motion");
  right &= require(near(slope.measurement.item(), difference(0, 1e-5), 1e-6), "the derivative by that of measurements");
  right &= require(std::abs(slope_at_end.motion.item()) < 1e-4, "the noises found are not the likeliest");
  right &= require(std::abs(noise.measurement - std::log(kNoise)) < 0.2, "the noise of measurements");
  right &= require(error < 0.8 * of_measurements && inside > 0.75 * kSteps, "the estimates");
  return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
