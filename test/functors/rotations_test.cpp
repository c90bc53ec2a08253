// Rotations: conversions, manifolds and their derivatives, above all at zero rotation, where the formulas divide by 0.
#include <cmath>
#include <vector>

#include <Eigen/Geometry>
#include <gtest/gtest.h>

#include "calque/calque.h"
#include "calque/eigen.h"

#include "jit/messages.h"
#include "smooth.h"

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
  const std::string m = message_of<ShapeError>([] { (void)angle_axis_rotate(D{1, 2, 3, 4}, kPoint); });
  EXPECT_EQ(m, "angle_axis_rotate: the last extent must be 3, got [4]" + line);
}

}  // namespace
}  // namespace calque::test
