// A curve fitted by the method of Levenberg and Marquardt, compared with plain Eigen.
#include <cmath>

#include <gtest/gtest.h>

#include "native/states.h"

namespace calque {
namespace {

using namespace test;
using D = Array<double>;

template <class S>
struct Decay {
  S height, rate, floor;
};

TEST(NativePrograms, LevenbergMarquardtFit) {
  std::vector<double> ts, ys;
  for (int i = 0; i < 30; ++i) {
    ts.push_back(0.1 * i);
    ys.push_back(2.5 * std::exp(-1.3 * ts.back()) + 0.5 + 0.01 * std::sin(7.0 * i));
  }
  Decay<double> fit{1, 1, 0};
  const auto [start, unravel] = ravel(fit);
  const auto residuals = [unravel = unravel](auto p, auto t, auto y) {
    const auto d = unravel(p);
    return d.height * exp(-d.rate * t) + d.floor - y;
  };
  const auto both =
      jit([residuals](auto p, auto t, auto y) { return std::pair{residuals(p, t, y), jacfwd(residuals)(p, t, y)}; });
  Eigen::VectorXd p = start, q(3);
  q << 1, 1, 0;
  double damping = 1e-2, plain_damping = 1e-2;
  const auto improve = [](Eigen::VectorXd& p, double& damping, const auto& model) {
    const auto [r, J] = model(p);
    const Eigen::MatrixXd H = J.transpose() * J;
    const Eigen::VectorXd next = p - (H + damping * Eigen::MatrixXd::Identity(3, 3)).ldlt().solve(J.transpose() * r);
    const bool better = model(next).first.squaredNorm() < r.squaredNorm();
    if (better) p = next;
    damping *= better ? 0.3 : 4.0;
  };
  for (int i = 0; i < 30; ++i) {
    improve(p, damping, [&](const Eigen::VectorXd& at) {
      const auto [r, J] = both(at, ts, ys);
      return std::pair{Eigen::VectorXd(r), Eigen::MatrixXd(J)};
    });
    improve(q, plain_damping, [&](const Eigen::VectorXd& at) {
      Eigen::VectorXd r(30);
      Eigen::MatrixXd J(30, 3);
      for (int k = 0; k < 30; ++k) {
        const double t = ts[static_cast<size_t>(k)], e = std::exp(-at(1) * t);
        r(k) = at(0) * e + at(2) - ys[static_cast<size_t>(k)];
        J.row(k) << e, -at(0) * t * e, 1;
      }
      return std::pair{r, J};
    });
  }
  fit = to<Decay<double>>(unravel(D::from(p)));
  EXPECT_NEAR(fit.height, 2.5, 0.02);
  EXPECT_NEAR(fit.rate, 1.3, 0.02);
  EXPECT_TRUE(p.isApprox(q, 1e-8)) << p.transpose() << " and " << q.transpose();
}

}  // namespace
}  // namespace calque
