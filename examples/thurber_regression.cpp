// A regression of NIST's Statistical Reference Datasets, Thurber (electron mobility of a semiconductor): a cost functor
// in Ceres' form, all of whose residuals and Jacobians are one compiled call, and Levenberg-Marquardt with Eigen. The
// parameters and their standard deviations agree with the certified ones. Writes thurber.svg.
//   https://www.itl.nist.gov/div898/strd/nls/data/thurber.shtml
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <tuple>
#include <utility>
#include <vector>

#include <calque/calque.h>
#include <calque/eigen.h>

#include "pictures/plot.h"

namespace cq = calque;

using Array = cq::Array<double>;

/// The mobility y at the logarithm x of the density: a quotient of cubic polynomials.
template <class S>
struct Mobility {
  S x, y;
  template <class T>
  bool operator()(const T* b, T* residual) const {
    const auto above = b[0] + x * (b[1] + x * (b[2] + x * b[3]));
    residual[0] = y - above / (1.0 + x * (b[4] + x * (b[5] + x * b[6])));
    return true;
  }
};

const std::vector<double> kX = {-3.067, -2.981, -2.921, -2.912, -2.840, -2.797, -2.702, -2.699, -2.633, -2.481,
                                -2.363, -2.322, -1.501, -1.460, -1.274, -1.212, -1.100, -1.046, -0.915, -0.714,
                                -0.566, -0.545, -0.400, -0.309, -0.109, -0.103, 0.010,  0.119,  0.377,  0.790,
                                0.963,  1.006,  1.115,  1.572,  1.841,  2.047,  2.200};
const std::vector<double> kY = {80.574,   84.248,   87.264,   87.195,   89.076,   89.608,   89.868,   90.101,
                                92.405,   95.854,   100.696,  101.060,  401.672,  390.724,  567.534,  635.316,
                                733.054,  759.087,  894.206,  990.785,  1090.109, 1080.914, 1122.643, 1178.351,
                                1260.531, 1273.514, 1288.339, 1327.543, 1353.863, 1414.509, 1425.208, 1421.384,
                                1442.962, 1464.350, 1468.705, 1447.894, 1457.628};
const Eigen::VectorXd kCertified{{1.2881396800e+03, 1.4910792535e+03, 5.8323836877e+02, 7.5416644291e+01,
                                  9.6629502864e-01, 3.9797285797e-01, 4.9727297349e-02}};
const Eigen::VectorXd kDeviations{{4.6647963344, 3.9571156086e+01, 2.8698696102e+01, 5.5675370270, 3.1333340687e-02,
                                   1.4984928198e-02, 6.5842344623e-03}};

int main() {
  const Mobility<Array> data{Array::from(kX), Array::from(kY)};
  const auto both = cq::jit(cq::vmap(cq::residuals_and_jacobians(cq::functor<1>()), {.in_axes = {0, cq::none}}));
  const auto evaluate = [&](const Eigen::VectorXd& b) {
    const auto [r, j] = both(data, b);
    return std::pair<Eigen::VectorXd, Eigen::MatrixXd>(r.reshape({-1}), std::get<0>(j).reshape({-1, 7}));
  };

  Eigen::VectorXd b{{1000, 1000, 400, 40, 0.7, 0.3, 0.03}};  // the first, further of NIST's starts
  Eigen::VectorXd r;
  Eigen::MatrixXd j;
  std::tie(r, j) = evaluate(b);
  double damping = 1e-3;
  int steps = 0;
  for (; steps < 200; ++steps) {
    const Eigen::MatrixXd square = j.transpose() * j;
    const Eigen::MatrixXd damped = square + Eigen::MatrixXd((damping * square.diagonal()).asDiagonal());
    const Eigen::VectorXd step = damped.ldlt().solve(j.transpose() * r), next = b - step;
    const auto [next_r, next_j] = evaluate(next);
    const bool better = next_r.squaredNorm() < r.squaredNorm();
    const bool still = step.cwiseQuotient(b).cwiseAbs().maxCoeff() < 1e-6;
    damping = better ? 0.3 * damping : 4 * damping;
    if (better) b = next, r = next_r, j = next_j;
    if (still) break;
  }
  // Near the minimum costs no longer tell better from worse: Gauss-Newton goes the rest.
  for (double size = 1; size > 1e-12 && steps < 200; ++steps) {
    const Eigen::VectorXd step = j.colPivHouseholderQr().solve(r);
    b -= step;
    size = step.cwiseQuotient(b).cwiseAbs().maxCoeff();
    std::tie(r, j) = evaluate(b);
  }
  const double variance = r.squaredNorm() / static_cast<double>(kX.size() - 7);
  const Eigen::VectorXd deviations = (variance * (j.transpose() * j).inverse().diagonal()).cwiseSqrt();
  const double off = (b - kCertified).cwiseQuotient(kCertified).cwiseAbs().maxCoeff();
  const double deviations_off = (deviations - kDeviations).cwiseQuotient(kDeviations).cwiseAbs().maxCoeff();
  std::cout << "parameters " << b.transpose() << "\nafter " << steps
            << " steps; the largest relative difference from the "
            << "certified ones is " << off << ", of their standard deviations " << deviations_off << '\n';

  const Array x = Array::linspace(-3.2, 2.3, 200);
  const auto curve = cq::functor<1>();
  const Array fitted = cq::vmap(curve, {.in_axes = {0, cq::none}})(Mobility<Array>{x, Array::zeros({200})}, b);
  const auto numbers = [](const Array& a) { return pictures::Numbers(a.host().begin(), a.host().end()); };
  pictures::Plot plot("Thurber: electron mobility", "logarithm of the density", "mobility");
  plot.curve(numbers(x), numbers(-fitted.reshape({-1})), "#4c8dd6", 2);
  plot.points(kX, kY, "#e07b39");
  plot.label("data", "#e07b39");
  plot.label("quotient of cubic polynomials", "#4c8dd6");
  plot.write("thurber.svg");
  return off < 1e-8 && deviations_off < 1e-6 ? EXIT_SUCCESS : EXIT_FAILURE;
}
