// Residuals and Jacobians of batches of observations against loops.
#include <vector>

#include <gtest/gtest.h>

#include "calque/calque.h"

#include "functors.h"

namespace calque::test {
namespace {

using D = Array<double>;

const D kCamera = {0.1, -0.2, 0.3, 0.4, 0.1, -5, 500, 0.01, -0.002};
const D kPoint = {0.3, -0.7, 0.2};

TEST(Jacobians, OverABatchAgainstALoop) {
  const int64_t n = 7;
  const D cameras = reshape(kCamera, {1, -1}) + 0.01 * sin(reshape(D::arange(n * 9), {n, 9}));
  const D points = reshape(kPoint, {1, -1}) + 0.1 * cos(reshape(D::arange(n * 3), {n, 3}));
  const auto g = functor<2>(Projection{1, 2});
  const auto batch = jit(vmap(residuals_and_jacobians(g)), {.branches = branches::all});
  const auto [residuals, jacobians] = batch(cameras, points);
  EXPECT_EQ(std::get<0>(jacobians).shape(), (Shape{n, 2, 9}));
  for (int64_t i = 0; i < n; ++i) {
    const auto [r, j] = residuals_and_jacobians(g)(D(cameras[i]), D(points[i]));
    EXPECT_TRUE(allclose(residuals[i], r, 1e-12, 1e-12));
    EXPECT_TRUE(allclose(std::get<0>(jacobians)[i], std::get<0>(j), 1e-12, 1e-12));
    EXPECT_TRUE(allclose(std::get<1>(jacobians)[i], std::get<1>(j), 1e-12, 1e-12));
  }
}

/// As Curve, of the type of its observation.
template <class S>
struct Observation {
  S x, y;
  template <class T>
  void operator()(const T* m, const T* c, T* residual) const {
    residual[0] = y - exp(m[0] * x + c[0]);
  }
};
/// The same with a constructor.
template <class S>
class Observed {
 public:
  Observed(S x, S y) : x_(x), y_(y) {}
  template <class T>
  bool operator()(const T* m, const T* c, T* residual) const {
    residual[0] = y_ - exp(m[0] * x_ + c[0]);
    return true;
  }

 private:
  S x_, y_;
};

TEST(Jacobians, OfFunctorsWhoseMembersAreBatched) {
  const D x = {0, 0.5, 1, 2}, y = {1, 2, 3, 4}, m = {0.5}, c = {0.25};
  const VmapOptions each{.in_axes = {0, none, none}};
  const D residuals = vmap(functor<1>(), each)(Observation<D>{x, y}, m, c);
  const auto [r, j] = vmap(residuals_and_jacobians(functor<1>()), each)(Observation<D>{x, y}, m, c);
  const auto constructed = [](auto x, auto y, auto m, auto c) { return functor<1>(Observed(x, y))(m, c); };
  const D same = vmap(constructed, {.in_axes = {0, 0, none, none}})(x, y, m, c);
  ASSERT_EQ(residuals.shape(), (Shape{4, 1}));
  EXPECT_TRUE(array_equal(r, residuals));
  EXPECT_TRUE(array_equal(same, residuals));
  for (int64_t i = 0; i < 4; ++i) {
    const auto [r1, j1] = residuals_and_jacobians(functor<1>(Curve(x(i), y(i))))(m, c);
    EXPECT_NEAR(residuals(i, 0), r1(0), 1e-14);
    EXPECT_NEAR(std::get<0>(j)(i, 0, 0), std::get<0>(j1)(0, 0), 1e-14);
    EXPECT_NEAR(std::get<1>(j)(i, 0, 0), std::get<1>(j1)(0, 0), 1e-14);
  }
}

}  // namespace
}  // namespace calque::test
