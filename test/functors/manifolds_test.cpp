// Manifolds of rotations, motions and directions: steps there and back, and their derivatives.
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "calque/calque.h"

#include "smooth.h"

namespace calque::test {
namespace {

using D = Array<double>;

TEST(Manifolds, OfRotationsAndMotions) {
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

TEST(Manifolds, OfDirections) {
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

TEST(Manifolds, OfTwistsAreExponentials) {
  const D step = {0.5, 0.6, -0.7, -1, 0.5, 2};
  const D pose = se3_plus(D{1, 0, 0, 0, 0, 0, 0}, step);
  const D twist = {{0, 0.7, 0.6, -1}, {-0.7, 0, -0.5, 0.5}, {-0.6, 0.5, 0, 2}, {0, 0, 0, 0}};
  const D expected = linalg::expm(twist);
  EXPECT_LT(distance(quaternion_to_rotation_matrix(pose.at(range(0, 4))), expected.at(range(0, 3), range(0, 3))),
            1e-14);
  EXPECT_LT(distance(pose.at(range(4, 7)), expected.at(range(0, 3), 3)), 1e-14);
}

}  // namespace
}  // namespace calque::test
