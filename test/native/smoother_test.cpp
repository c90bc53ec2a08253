// A Kalman filter over a scan and the Rauch-Tung-Striebel smoother of its results, compared with plain Eigen.
#include <gtest/gtest.h>

#include "native/kalman_models.h"

namespace calque {
namespace {

using namespace test;
using T = Tracer<double>;

TEST(NativePrograms, KalmanFilterAndSmootherAsScans) {
  constexpr int kCount = 25;
  const std::vector<Eigen::Vector2d> z = measurements(kCount);
  Eigen::MatrixXd zs(kCount, 2);
  for (int i = 0; i < kCount; ++i) zs.row(i) = z[static_cast<size_t>(i)].transpose();

  const auto smooth = jit([](const Belief<T>& init, auto zs) {
    const auto filter = [](const Belief<T>& b, const Vec2<T>& z) {
      const Mat4<T> F = jacfwd([](const Vec4<T>& x) { return move(x); })(b.x);
      const Belief<T> prior = predict(b, F);
      const Eigen::Matrix<T, 2, 4> H = jacfwd([](const Vec4<T>& x) { return measure(x); })(prior.x);
      const Belief<T> next = update(prior, z, H);
      return std::pair{next, std::tuple{next.x, next.P}};
    };
    auto [last, filtered] = scan(filter, init, zs);
    const auto backward = [](const Belief<T>& next, const auto& row) {
      const Belief<T> b{std::get<0>(row), std::get<1>(row)};
      const Mat4<T> F = jacfwd([](const Vec4<T>& x) { return move(x); })(b.x);
      const Belief<T> prior = predict(b, F);
      const Mat4<T> G = b.P * F.transpose() * prior.P.inverse();
      const Belief<T> smoothed{b.x + G * (next.x - prior.x), b.P + G * (next.P - prior.P) * G.transpose()};
      return std::pair{smoothed, smoothed.x};
    };
    auto [first, xs] =
        scan(backward, last, tree_map([](auto a) { return a[range(0, -1)]; }, filtered), {.reverse = true});
    return std::tuple{last, first, xs};
  });
  const auto [last, first, xs] = smooth(start(), zs);

  std::vector<Belief<double>> filtered;
  Belief<double> b = start();
  for (const Eigen::Vector2d& one : z) {
    const Belief<double> prior = predict(b, move_derivative(b.x));
    filtered.push_back(b = update(prior, one, measure_derivative(prior.x)));
  }
  EXPECT_TRUE(last.x.isApprox(b.x, 1e-10));
  for (size_t i = filtered.size() - 1; i-- > 0;) {
    const Belief<double>& f = filtered[i];
    const Mat4<double> F = move_derivative(f.x);
    const Belief<double> prior = predict(f, F);
    const Mat4<double> G = f.P * F.transpose() * prior.P.inverse();
    b = {f.x + G * (b.x - prior.x), f.P + G * (b.P - prior.P) * G.transpose()};
    for (int k = 0; k < 4; ++k) ASSERT_NEAR(xs(static_cast<int>(i), k), b.x(k), 1e-8);
  }
  EXPECT_TRUE(first.x.isApprox(b.x, 1e-8));
  EXPECT_TRUE(first.P.isApprox(b.P, 1e-8));
}

}  // namespace
}  // namespace calque
