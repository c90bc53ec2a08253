// A rigid body whose attitude is the coefficients of a quaternion, compared with plain Eigen.
#include <cmath>

#include <gtest/gtest.h>

#include "native/states.h"

namespace calque {
namespace {

using namespace test;

template <class S>
struct Body {
  Eigen::Matrix<S, 3, 1> position, velocity;
  Eigen::Matrix<S, 4, 1> attitude;  // x, y, z, w
  Eigen::Matrix<S, 3, 1> spin;
};
template <class S, class Step>
Body<S> advance(const Body<S>& b, const Eigen::Matrix<S, 3, 1>& inertia, const Step& dt) {
  Body<S> r = b;
  const Eigen::Quaternion<S> q(b.attitude);
  const Eigen::Matrix<S, 3, 1> torque = -b.spin.cross(inertia.cwiseProduct(b.spin).eval());
  r.spin += dt * torque.cwiseQuotient(inertia);
  r.velocity += dt * (q * Eigen::Matrix<S, 3, 1>(S(0.0), S(0.0), S(2.0)));
  r.position += dt * r.velocity;
  const Eigen::Quaternion<S> rate(S(0.0), r.spin(0), r.spin(1), r.spin(2));
  r.attitude += (dt * 0.5) * (q * rate).coeffs();
  using std::sqrt;
  const S length = sqrt(r.attitude.squaredNorm());
  r.attitude = (r.attitude / length).eval();
  return r;
}

TEST(NativePrograms, RigidBodyWithQuaternion) {
  const auto run = jit([](const auto& b, const Vector<double, 3>& inertia, auto dt) {
    return fori_loop(0, 50, [&](auto, const auto& s) { return advance(s, inertia, dt); }, b);
  });
  const Body<double> start{{0, 0, 0}, {1, 0, 0}, {0, 0, 0, 1}, {0.3, 2, 0.1}};
  const Eigen::Vector3d inertia(1, 2, 3);
  const Body<double> got = run(start, inertia, 0.01);
  Body<double> expected = start;
  for (int i = 0; i < 50; ++i) expected = advance(expected, inertia, 0.01);
  EXPECT_TRUE(got.position.isApprox(expected.position, 1e-12));
  EXPECT_TRUE(got.attitude.isApprox(expected.attitude, 1e-12));
  EXPECT_TRUE(got.spin.isApprox(expected.spin, 1e-12));
  const auto height = [run, inertia](const auto& b) { return run(b, inertia, 0.01).position(2); };
  const Body<double> g = grad(height)(start);
  Body<double> up = start, down = start;
  up.spin(1) += 1e-6;
  down.spin(1) -= 1e-6;
  const double slope = (run(up, inertia, 0.01).position(2) - run(down, inertia, 0.01).position(2)) / 2e-6;
  EXPECT_NEAR(g.spin(1), slope, 1e-7);
}

}  // namespace
}  // namespace calque
