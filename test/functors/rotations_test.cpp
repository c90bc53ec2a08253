// Rotations: conversions, manifolds and their derivatives, above all at zero rotation, where the formulas divide by 0.
#include <cmath>
#include <vector>

#include <Eigen/Geometry>
#include <gtest/gtest.h>

#include "calque/calque.h"
#include "calque/eigen.h"

#include "differences.h"
#include "jit/messages.h"

namespace calque::test {
namespace {

using D = Array<double>;

const std::vector<D> kVectors = {{0, 0, 0},        {1e-9, -2e-9, 1e-9}, {1e-3, 2e-3, -3e-3}, {0.3, -0.2, 0.3},
                                 {0.3, 0.3, 0.27}, {0.4, -0.2, 0.9},    {-2, 1, 1.5},        {0, 0, 3.1}};
const D kPoint = {0.3, -2, 0.7};

Eigen::Matrix3d matrix_of(const D& v) {
  const Eigen::Vector3d w = v;
  return w.norm() == 0 ? Eigen::Matrix3d(Eigen::Matrix3d::Identity())
                       : Eigen::AngleAxisd(w.norm(), w.normalized()).toRotationMatrix();
}
/// Largest difference between two arrays.
double distance(const D& a, const D& b) { return amax(abs(a - b)).item(); }

TEST(Rotations, AgreeWithEigen) {
  for (const D& v : kVectors) {
    SCOPED_TRACE(testing::Message() << v);
    const Eigen::Matrix3d expected = matrix_of(v);
    const Eigen::Matrix3d r = angle_axis_to_rotation_matrix(v),
                          s = quaternion_to_rotation_matrix(3.0 * angle_axis_to_quaternion(v));
    EXPECT_LT((r - expected).norm(), 1e-14);
    EXPECT_LT((s - expected).norm(), 1e-14);
    const Eigen::Vector3d p = kPoint, rotated = angle_axis_rotate(v, kPoint);
    EXPECT_LT((rotated - expected * p).norm(), 1e-14);
    EXPECT_LT(distance(quaternion_rotate(-2.0 * angle_axis_to_quaternion(v), kPoint), angle_axis_rotate(v, kPoint)),
              1e-14);
    EXPECT_LT(distance(quaternion_to_angle_axis(angle_axis_to_quaternion(v)), v), 1e-14);
    EXPECT_LT(distance(quaternion_to_angle_axis(-angle_axis_to_quaternion(v)), v), 1e-14);
  }
  const D half_turn = quaternion_to_angle_axis(D{0, 0, 1, 0});
  EXPECT_LT(distance(half_turn, D{0, M_PI, 0}), 1e-15);
}

/// First and second derivatives of f, in both modes, against differences of `coarse`, f or a function that equals it.
template <class F>
void check_smooth(const F& f, const D& x) {
  const auto forward = jit(jacfwd(f));
  const auto reverse = jit(jacrev(f));
  const D j = forward(x);
  EXPECT_LT(distance(j, reverse(x)), 1e-13);
  const auto second = jit(jacfwd(jacrev(f)))(x), other = jit(jacfwd(jacfwd(f)))(x);
  EXPECT_LT(distance(second, other), 1e-12);
  const double h = 1e-3;
  for (int64_t k = 0; k < x.size(); ++k) {
    const auto at = [&](const auto& g, double step) { return D(g(D(x.add(k, step * h)))); };
    const auto slope = [&](const auto& g) {
      return D((8.0 * (at(g, 1) - at(g, -1)) - (at(g, 2) - at(g, -2))) / (12 * h));
    };
    EXPECT_LT(distance(j.at(all, k), slope(f)), 1e-9) << k;
    EXPECT_LT(distance(second.at(all, all, k), slope(forward)), 1e-9) << k;
  }
}

TEST(Rotations, AreSmooth) {
  for (const D& v : kVectors) {
    SCOPED_TRACE(testing::Message() << v);
    check_smooth([](auto v) { return angle_axis_rotate(v, kPoint); }, v);
    check_smooth([](auto v) { return angle_axis_to_quaternion(v); }, v);
  }
}
TEST(Rotations, ConversionsBackAreSmooth) {
  for (const D& q : std::vector<D>{
           {1, 0, 0, 0}, {-1, 0, 0, 0}, {0.97, 0.2, 0.1, 0.1}, {0.1, -0.7, 0.5, 0.5}, {-0.3, 0.7, 0.5, 0.5}}) {
    SCOPED_TRACE(testing::Message() << q);
    check_smooth([](auto q) { return quaternion_to_angle_axis(q); }, q);
  }
}

TEST(Rotations, StepsOfManifolds) {
  const D x = angle_axis_to_quaternion(D{0.4, -0.2, 0.9}), zero = {0, 0, 0};
  const D pose = concatenate({x, D{1, 2, -3}}, 0);
  for (const D& step : {zero, D{1e-9, 0, 1e-9}, D{0.1, 0.2, -0.1}, D{0.5, 0.6, -0.7}}) {
    SCOPED_TRACE(testing::Message() << step);
    EXPECT_LT(distance(quaternion_minus(quaternion_plus(x, step), x), step), 1e-15);
    EXPECT_LT(distance(angle_axis_minus(angle_axis_plus(D{0.4, -0.2, 0.9}, step), D{0.4, -0.2, 0.9}), step), 1e-15);
    const D motion = concatenate({step, D{-1, 0.5, 2}}, 0);
    EXPECT_LT(distance(se3_minus(se3_plus(pose, motion), pose), motion), 3e-15);
    check_smooth([&](auto s) { return quaternion_plus(x, s); }, step);
    check_smooth([&](auto s) { return se3_plus(pose, s); }, motion);
    check_smooth([&](auto y) { return se3_minus(y, pose); }, D(se3_plus(pose, motion)));
  }
  EXPECT_LT(distance(jacfwd([&](auto s) { return quaternion_minus(quaternion_plus(x, s), x); })(zero), D::eye(3)),
            1e-15);
  const auto there_and_back = [&](auto s) { return se3_minus(se3_plus(pose, s), pose); };
  EXPECT_LT(distance(jacrev(there_and_back)(D::zeros({6})), D::eye(6)), 1e-14);
}

TEST(Rotations, OfMatrices) {
  for (const D& v : kVectors) {
    SCOPED_TRACE(testing::Message() << v);
    EXPECT_LT(distance(rotation_matrix_to_angle_axis(angle_axis_to_rotation_matrix(v)), v), 1e-14);
    check_smooth([](auto r) { return rotation_matrix_to_quaternion(reshape(r, {3, 3})); },
                 reshape(angle_axis_to_rotation_matrix(v), {-1}));
  }
  for (const D& v : {D{3, 0.1, 0.2}, D{0.1, 3, 0.2}, D{0.2, 0.1, 3}}) {
    const D q = angle_axis_to_quaternion(v);
    EXPECT_LT(distance(rotation_matrix_to_quaternion(quaternion_to_rotation_matrix(q)), q), 1e-14);
  }
}

TEST(Rotations, StepsOnTheSphere) {
  const D zero = {0, 0};
  for (const D& x : {D{0, 0, 1}, D{0, 0, -1}, D{0.6, 0, -0.8}, D{2. / 7, 3. / 7, 6. / 7}, D{1, 0, 0}}) {
    for (const D& step : {zero, D{1e-9, 1e-9}, D{0.1, 0.2}, D{1, -2}}) {
      SCOPED_TRACE(testing::Message() << x << step);
      const D y = unit_vector_plus(x, step);
      EXPECT_NEAR(sum(square(y)).item(), 1, 1e-14);
      EXPECT_NEAR(sum(x * y).item(), std::cos(norm(step).item()), 1e-14);
      EXPECT_LT(distance(unit_vector_minus(y, x), step), 3e-15);
      check_smooth([&](auto s) { return unit_vector_plus(x, s); }, step);
    }
    const auto there_and_back = [&](auto s) { return unit_vector_minus(unit_vector_plus(x, s), x); };
    EXPECT_LT(distance(jacfwd(there_and_back)(zero), D::eye(2)), 1e-14);
    EXPECT_LT(distance(jacrev(there_and_back)(zero), D::eye(2)), 1e-14);
  }
}

TEST(Rotations, OfTwistsAreExponentials) {
  const D step = {0.5, 0.6, -0.7, -1, 0.5, 2};
  const D pose = se3_plus(D{1, 0, 0, 0, 0, 0, 0}, step);
  const D twist = {{0, 0.7, 0.6, -1}, {-0.7, 0, -0.5, 0.5}, {-0.6, 0.5, 0, 2}, {0, 0, 0, 0}};
  const D expected = linalg::expm(twist);
  EXPECT_LT(distance(quaternion_to_rotation_matrix(pose.at(range(0, 4))), expected.at(range(0, 3), range(0, 3))),
            1e-14);
  EXPECT_LT(distance(pose.at(range(4, 7)), expected.at(range(0, 3), 3)), 1e-14);
}

TEST(Rotations, OfBatchesAgainstLoops) {
  const D v = stack(kVectors, 0);
  const D rotated = angle_axis_rotate(v, kPoint), mapped = vmap([](auto v) { return angle_axis_rotate(v, kPoint); })(v);
  const D matrices = angle_axis_to_rotation_matrix(v);
  const D slopes = jit(vmap(jacrev([](auto v) { return angle_axis_rotate(v, kPoint); })))(v);
  ASSERT_EQ(matrices.shape(), (Shape{v.shape()[0], 3, 3}));
  for (int64_t i = 0; i < v.shape()[0]; ++i) {
    const D one = v[i];
    EXPECT_LT(distance(rotated[i], angle_axis_rotate(one, kPoint)), 1e-15);
    EXPECT_LT(distance(mapped[i], rotated[i]), 1e-15);
    EXPECT_LT(distance(matrices[i], angle_axis_to_rotation_matrix(one)), 1e-15);
    EXPECT_LT(distance(slopes[i], jacrev([](auto v) { return angle_axis_rotate(v, kPoint); })(one)), 1e-14);
  }
}

TEST(Rotations, Errors) {
  const std::string line = line_below();
  EXPECT_EQ(message_of<ShapeError>([] { (void)angle_axis_rotate(D{1, 2, 3, 4}, kPoint); }),
            "angle_axis_rotate: the last extent must be 3, got [4]" + line);
}

}  // namespace
}  // namespace calque::test
