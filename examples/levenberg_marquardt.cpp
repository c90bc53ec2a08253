// Levenberg-Marquardt in a dozen lines: a curve whose parameters are a struct is fitted to points. ravel makes one
// vector of the struct, jacfwd the derivatives, and Eigen solves for the step.
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <utility>
#include <vector>

#include <calque/calque.h>
#include <calque/eigen.h>

namespace cq = calque;

template <class S>
struct Decay {
  S height, rate, floor;
};

int main() {
  std::vector<double> ts, ys;
  for (int i = 0; i < 50; ++i) {
    ts.push_back(0.1 * i);
    ys.push_back(2.5 * std::exp(-1.3 * ts.back()) + 0.5);
  }

  const auto [start, unravel] = cq::ravel(Decay<double>{1, 1, 0});
  const auto residual = [unravel = unravel](auto p, auto t, auto y) {
    auto curve = unravel(p);
    return curve.height * exp(-curve.rate * t) + curve.floor - y;
  };
  const auto both = cq::jit(
      [residual](auto p, auto t, auto y) { return std::pair{residual(p, t, y), cq::jacfwd(residual)(p, t, y)}; });
  const auto error = [&](const Eigen::VectorXd& p) { return Eigen::VectorXd(both(p, ts, ys).first).squaredNorm(); };
  Eigen::VectorXd p = start;
  double damping = 1e-2;
  for (int i = 0; i < 30; ++i) {
    const auto [residuals, jacobian] = both(p, ts, ys);
    const Eigen::VectorXd r = residuals;
    const Eigen::MatrixXd j = jacobian, damped = j.transpose() * j + damping * Eigen::MatrixXd::Identity(3, 3);
    const Eigen::VectorXd next = p - damped.ldlt().solve(j.transpose() * r);
    const bool better = error(next) < error(p);
    damping *= better ? 0.3 : 4.0;
    if (better) p = next;
  }
  const auto fit = cq::to<Decay<double>>(unravel(cq::Array<double>::from(p)));
  std::cout << fit.height << " exp(-" << fit.rate << " t) + " << fit.floor << "\n";
  return std::abs(fit.rate - 1.3) < 1e-6 ? EXIT_SUCCESS : EXIT_FAILURE;
}
