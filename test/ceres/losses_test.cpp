// Robust losses and corrected terms beside those of Ceres.
#include <array>
#include <cmath>
#include <functional>
#include <memory>
#include <tuple>
#include <vector>

#include <ceres/autodiff_cost_function.h>
#include <ceres/crs_matrix.h>
#include <ceres/loss_function.h>
#include <ceres/problem.h>
#include <gtest/gtest.h>

#include "calque/calque.h"

namespace calque::test {
namespace {

using D = Array<double>;
using T = Tracer<double>;

/// A loss of ours, of one type whatever it is, and that of Ceres.
struct Pair {
  const char* name;
  std::function<T(T)> ours;
  std::shared_ptr<const ::ceres::LossFunction> theirs;
};

std::vector<Pair> pairs() {
  return {{"huber", [](T s) { return huber(s, 0.7); }, std::make_shared<::ceres::HuberLoss>(0.7)},
          {"soft_l1", [](T s) { return soft_l1(s, 0.7); }, std::make_shared<::ceres::SoftLOneLoss>(0.7)},
          {"cauchy", [](T s) { return cauchy(s, 0.7); }, std::make_shared<::ceres::CauchyLoss>(0.7)},
          {"arctan", [](T s) { return arctan(s, 0.7); }, std::make_shared<::ceres::ArctanLoss>(0.7)},
          {"tukey", [](T s) { return tukey(s, 0.7); }, std::make_shared<::ceres::TukeyLoss>(0.7)},
          {"tolerant", [](T s) { return tolerant(s, 0.7, 0.2); }, std::make_shared<::ceres::TolerantLoss>(0.7, 0.2)}};
}

TEST(Losses, ValuesAndDerivativesAreThoseOfCeres) {
  const D points = {0, 1e-300, 1e-12, 0.01, 0.3, 0.48, 0.49, 0.5, 1, 3.9, 30, 1e4, 1e12};
  for (const auto& [name, ours, theirs] : pairs()) {
    const auto slope = grad([&, &f = ours](auto s) { return f(s); });
    const auto all = jit(vmap([&, &f = ours](auto s) { return std::tuple{f(s), slope(s), grad(slope)(s)}; }));
    const auto [value, first, second] = all(points);
    for (int64_t i = 0; i < points.size(); ++i) {
      SCOPED_TRACE(testing::Message() << name << " at " << points(i));
      double rho[3];
      theirs->Evaluate(points(i), rho);
      EXPECT_NEAR(value(i), rho[0], 1e-14 * (points(i) < 1 ? 1 : rho[0]));
      EXPECT_NEAR(first(i), rho[1], 1e-14 * std::max(1.0, std::abs(rho[1])));
      EXPECT_NEAR(second(i), rho[2], 2e-14 * std::max(1.0, std::abs(rho[2])));
    }
  }
}

/// Three residuals of two blocks, whose squared norm is 0 at zero blocks.
struct Bent {
  template <class S>
  bool operator()(const S* a, const S* b, S* residuals) const {
    residuals[0] = a[0] * b[0] + a[1];
    residuals[1] = a[0] - 2.0 * b[0];
    residuals[2] = a[1] * a[1] * 0.5;
    return true;
  }
};

/// What Ceres makes of a term inside: corrected residuals, then a row of the Jacobian for each.
D of_ceres(std::array<double, 2> a, double b, const ::ceres::LossFunction& loss) {
  ::ceres::Problem::Options options;
  options.loss_function_ownership = ::ceres::DO_NOT_TAKE_OWNERSHIP;
  ::ceres::Problem problem(options);
  problem.AddResidualBlock(new ::ceres::AutoDiffCostFunction<Bent, 3, 2, 1>(new Bent),
                           const_cast<::ceres::LossFunction*>(&loss), a.data(), &b);
  ::ceres::Problem::EvaluateOptions evaluation;
  evaluation.apply_loss_function = true;
  evaluation.parameter_blocks = {a.data(), &b};
  std::vector<double> residuals;
  ::ceres::CRSMatrix jacobian;
  EXPECT_TRUE(problem.Evaluate(evaluation, nullptr, &residuals, nullptr, &jacobian));
  std::vector<double> all = residuals;
  all.resize(12);
  for (size_t row = 0; row < 3; ++row) {
    for (int k = jacobian.rows[row]; k < jacobian.rows[row + 1]; ++k) {
      const auto at = static_cast<size_t>(k);
      all[3 + 3 * row + static_cast<size_t>(jacobian.cols[at])] = jacobian.values[at];
    }
  }
  return D::from(all);
}

TEST(Losses, CorrectedTermsAreThoseOfCeres) {
  const auto term = residuals_and_jacobians(functor<3>(Bent()));
  for (const auto& [name, loss, theirs] : pairs()) {
    // The last two: small and large residuals, at which each second derivative has both of its signs.
    for (const auto& [x, y] : {std::pair(D{0, 0}, 0.0), std::pair(D{1e-9, 0}, 1e-9), std::pair(D{0.1, 0.2}, 0.15),
                               std::pair(D{0.7, 0.3}, 0.1), std::pair(D{-3, 2}, 5.0)}) {
      SCOPED_TRACE(testing::Message() << name << " at " << x << y);
      const auto corrected_term = jit([&, &f = loss](auto a, auto b) {
        const auto [r, j] = term(a, b);
        const auto [rc, jc] = corrected([&](auto s) { return f(s); }, r, j);
        return concatenate({reshape(rc, {-1}), reshape(concatenate({std::get<0>(jc), std::get<1>(jc)}, 1), {-1})}, 0);
      });
      const D ours = corrected_term(x, D{y}), expected = of_ceres({x(0), x(1)}, y, *theirs);
      EXPECT_TRUE(allclose(ours, expected, 1e-13, 1e-14)) << ours << '\n' << expected;
    }
  }
}

}  // namespace
}  // namespace calque::test
