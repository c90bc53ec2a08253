// Jacobians of steps on manifolds against derivatives of the steps, which are checked against differences.
#include <functional>
#include <vector>

#include <gtest/gtest.h>

#include "calque/calque.h"

#include "smooth.h"

namespace calque::test {
namespace {

using D = Array<double>;
using T = Tracer<double>;

/// One manifold, of one type whatever its functions are.
struct Manifold {
  const char* name;
  std::vector<D> points;
  int64_t dimension;
  std::function<T(T, T)> plus, minus;
  std::function<T(T)> plus_jacobian, minus_jacobian;
};

std::vector<Manifold> manifolds() {
  const D turn = angle_axis_to_quaternion(D{0.4, -0.2, 0.9}), none = {1, 0, 0, 0}, half = {0, 0, 0.6, -0.8};
  const D shift = {1, 2, -3};
  return {{"quaternion",
           {turn, none, half, angle_axis_to_quaternion(D{1e-9, 0, 1e-9})},
           3,
           [](T x, T s) { return quaternion_plus(x, s); },
           [](T y, T x) { return quaternion_minus(y, x); },
           [](T x) { return quaternion_plus_jacobian(x); },
           [](T x) { return quaternion_minus_jacobian(x); }},
          {"angle_axis",
           {D{0.4, -0.2, 0.9}, D{0, 0, 0}, D{1e-9, 0, -1e-9}, D{0.2, 0.2, 0.1}, D{2, -1, 1.5}},
           3,
           [](T x, T s) { return angle_axis_plus(x, s); },
           [](T y, T x) { return angle_axis_minus(y, x); },
           [](T x) { return angle_axis_plus_jacobian(x); },
           [](T x) { return angle_axis_minus_jacobian(x); }},
          {"se3",
           {concatenate({turn, shift}, 0), concatenate({none, shift * 0}, 0), concatenate({half, shift}, 0)},
           6,
           [](T x, T s) { return se3_plus(x, s); },
           [](T y, T x) { return se3_minus(y, x); },
           [](T x) { return se3_plus_jacobian(x); },
           [](T x) { return se3_minus_jacobian(x); }},
          {"unit_vector",
           {D{0, 0, 1}, D{0, 0, -1}, D{0.6, 0, -0.8}, D{2. / 7, 3. / 7, 6. / 7}, D{1, 0, 0}},
           2,
           [](T x, T s) { return unit_vector_plus(x, s); },
           [](T y, T x) { return unit_vector_minus(y, x); },
           [](T x) { return unit_vector_plus_jacobian(x); },
           [](T x) { return unit_vector_minus_jacobian(x); }}};
}

TEST(ManifoldJacobians, AreDerivativesAtZeroSteps) {
  for (const Manifold& m : manifolds()) {
    SCOPED_TRACE(m.name);
    const auto plus = jit([&m](auto x, auto s) { return jacfwd([&](auto s) { return m.plus(x, s); })(s); });
    const auto minus = jit([&m](auto y, auto x) { return jacrev([&](auto y) { return m.minus(y, x); })(y); });
    const auto plus_jacobian = jit([&m](auto x) { return m.plus_jacobian(x); });
    const auto minus_jacobian = jit([&m](auto x) { return m.minus_jacobian(x); });
    for (const D& x : m.points) {
      SCOPED_TRACE(testing::Message() << x);
      const D up = plus_jacobian(x), down = minus_jacobian(x);
      ASSERT_EQ(up.shape(), (Shape{x.size(), m.dimension}));
      ASSERT_EQ(down.shape(), (Shape{m.dimension, x.size()}));
      EXPECT_LT(distance(up, plus(x, D::zeros({m.dimension}))), 1e-14);
      EXPECT_LT(distance(down, minus(x, x)), 1e-14);
      EXPECT_LT(distance(matmul(down, up), D::eye(m.dimension)), 1e-14);
    }
    // Of a batch: the matrices of its points.
    const D up = plus_jacobian(stack(m.points, 0)), down = minus_jacobian(stack(m.points, 0));
    for (size_t i = 0; i < m.points.size(); ++i) {
      EXPECT_LT(distance(up.at(i), plus_jacobian(m.points[i])), 4e-15) << i;
      EXPECT_LT(distance(down.at(i), minus_jacobian(m.points[i])), 4e-15) << i;
    }
    const D none = plus_jacobian(D::zeros({0, m.points[0].size()}));
    EXPECT_EQ(none.shape(), (Shape{0, m.points[0].size(), m.dimension}));
  }
}

TEST(ManifoldJacobians, AreSmooth) {
  for (const Manifold& m : manifolds()) {
    for (const D& x : m.points) {
      // At the last axis the reflection jumps, and near it differences of this step are not of these digits.
      if (m.dimension == 2 && x(2) > 0.8) continue;
      SCOPED_TRACE(testing::Message() << m.name << x);
      check_smooth([&m](T x) { return reshape(m.plus_jacobian(x), {-1}); }, x);
      check_smooth([&m](T x) { return reshape(m.minus_jacobian(x), {-1}); }, x);
    }
  }
}

TEST(ManifoldJacobians, OfFloats) {
  const Array<float> x = {0.6F, 0, 0.8F};
  const D y = {0.6, 0, 0.8};
  EXPECT_LT(distance(cast<double>(unit_vector_plus_jacobian(x)), unit_vector_plus_jacobian(y)), 1e-6);
  EXPECT_LT(distance(cast<double>(angle_axis_plus_jacobian(x)), angle_axis_plus_jacobian(y)), 1e-6);
}

}  // namespace
}  // namespace calque::test
