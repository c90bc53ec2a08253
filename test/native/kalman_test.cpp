// An extended Kalman filter in Eigen's arithmetic, with derivatives by tracing, compared with one in plain Eigen.
#include <gtest/gtest.h>

#include "native/kalman_models.h"

namespace calque {
namespace {

using namespace test;
using T = Tracer<double>;

TEST(NativePrograms, ExtendedKalmanFilterStepByStep) {
  const auto step = jit([](const Belief<T>& b, const Vec2<T>& z) {
    const Mat4<T> F = jacfwd([](const Vec4<T>& x) { return move(x); })(b.x);
    const Belief<T> prior = predict(b, F);
    const Eigen::Matrix<T, 2, 4> H = jacfwd([](const Vec4<T>& x) { return measure(x); })(prior.x);
    return update(prior, z, H);
  });
  Belief<double> b = start(), expected = start();
  for (const Eigen::Vector2d& z : measurements(30)) {
    b = step(b, z);
    const Belief<double> prior = predict(expected, move_derivative(expected.x));
    expected = update(prior, z, measure_derivative(prior.x));
    ASSERT_TRUE(b.x.isApprox(expected.x, 1e-10)) << b.x.transpose();
    ASSERT_TRUE(b.P.isApprox(expected.P, 1e-10)) << b.P;
  }
  EXPECT_EQ(step.cache_info().misses, 1u);
}

}  // namespace
}  // namespace calque
