// Problems whose observations are evaluated together, beside plain problems of Ceres with automatic derivatives.
#include <array>
#include <cmath>
#include <vector>

#include <ceres/autodiff_cost_function.h>
#include <ceres/loss_function.h>
#include <gtest/gtest.h>

#include "calque/ceres.h"

#include "models.h"
#include "options.h"

namespace calque::test {
namespace {

using D = Array<double>;

/// Points with noise of a smooth form, every eighth one far away.
struct Points {
  std::vector<double> x, y;

  template <class F>
  Points(int n, double outlier, const F& f) {
    for (int i = 0; i < n; ++i) {
      x.push_back(0.05 * i);
      y.push_back(f(x.back()) + 0.1 * std::sin(7.0 * i) + (i % 8 == 3 ? outlier : 0));
    }
  }
};

TEST(Problem, FitsACurveAsCeres) {
  const Points points(60, 0, [](double x) { return std::exp(0.3 * x + 0.1); });
  double m = 0, c = 0, m0 = 0, c0 = 0;
  ceres::Problem ours;
  ours.add(functor<1>(), Curve<D>{D::from(points.x), D::from(points.y)}, {m, c});
  ::ceres::Problem theirs;
  for (size_t i = 0; i < points.x.size(); ++i) {
    theirs.AddResidualBlock(
        new ::ceres::AutoDiffCostFunction<Curve<double>, 1, 1, 1>(new Curve<double>{points.x[i], points.y[i]}), nullptr,
        &m0, &c0);
  }
  const auto a = ours.solve(options());
  ::ceres::Solver::Summary b;
  ::ceres::Solve(options(), &theirs, &b);
  EXPECT_EQ(a.termination_type, ::ceres::CONVERGENCE) << a.FullReport();
  EXPECT_NEAR(a.final_cost, b.final_cost, 1e-13 * b.final_cost);
  EXPECT_NEAR(m, m0, 1e-10);
  EXPECT_NEAR(c, c0, 1e-10);
  EXPECT_NEAR(m, 0.3, 0.05);
}

TEST(Problem, FitsALineWithALossAsCeres) {
  const Points points(64, 20, [](double x) { return 2 * x - 1; });
  std::array<double, 2> line{}, plain{};
  ceres::Problem ours;
  ours.add(functor<1>(), Line<D>{D::from(points.x), D::from(points.y)}, {line}, new ::ceres::CauchyLoss(0.5));
  ::ceres::Problem theirs;
  auto* loss = new ::ceres::CauchyLoss(0.5);
  for (size_t i = 0; i < points.x.size(); ++i) {
    theirs.AddResidualBlock(
        new ::ceres::AutoDiffCostFunction<Line<double>, 1, 2>(new Line<double>{points.x[i], points.y[i]}), loss,
        plain.data());
  }
  const auto a = ours.solve(options());
  ::ceres::Solver::Summary b;
  ::ceres::Solve(options(), &theirs, &b);
  EXPECT_NEAR(a.final_cost, b.final_cost, 1e-13 * b.final_cost);
  EXPECT_NEAR(line[0], plain[0], 1e-9);
  EXPECT_NEAR(line[0], 2, 0.05);
  EXPECT_NEAR(line[1], -1, 0.1);
}

}  // namespace
}  // namespace calque::test
