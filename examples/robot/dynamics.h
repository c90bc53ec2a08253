#pragma once
// The dynamics of an arm of N revolute joints in a chain, for any scalar that Eigen takes: forward by the articulated
// body algorithm, inverse by the recursive Newton-Euler algorithm (R. Featherstone, "Rigid Body Dynamics Algorithms",
// 2008, tables 7.1 and 5.1). Spatial vectors are pairs of an angular and a linear 3-vector in the link's frame.
#include <cmath>
#include <vector>

#include <Eigen/Core>
#include <Eigen/Geometry>

namespace robot {

template <class S>
using Vector3 = Eigen::Matrix<S, 3, 1>;
template <class S>
using Matrix3 = Eigen::Matrix<S, 3, 3>;

/// One link and its joint, which rotates it about its z axis.
struct Link {
  Eigen::Matrix3d rotation;  ///< from the previous link's frame to this one's at angle 0
  Eigen::Vector3d offset;    ///< of the joint in the previous link's frame, m
  double mass;               ///< kg
  Eigen::Vector3d moment;    ///< mass times centre of mass, kg m
  Eigen::Matrix3d inertia;   ///< about the joint, kg m^2
};

inline Eigen::Matrix3d skew(const Eigen::Vector3d& v) {
  Eigen::Matrix3d m;
  m << 0, -v[2], v[1], v[2], 0, -v[0], -v[1], v[0], 0;
  return m;
}

/// An arm whose axes are rotated by a right angle from joint to joint, with links of decreasing mass.
inline std::vector<Link> arm(int joints) {
  std::vector<Link> links;
  for (int i = 0; i < joints; ++i) {
    Link link;
    const double sign = i % 2 == 0 ? 1 : -1;
    link.rotation << 1, 0, 0, 0, 0, sign, 0, -sign, 0;
    const double length = 1.0 / (i + 2);
    link.offset = Eigen::Vector3d(0.02 * sign, 0, length);
    link.mass = 4.0 / (1 + 0.3 * i);
    const Eigen::Vector3d centre(0.01, 0.02 * sign, 0.5 * length);
    link.moment = link.mass * centre;
    const Eigen::Matrix3d cross = skew(centre);
    link.inertia = 0.02 * link.mass * Eigen::Matrix3d::Identity() - link.mass * cross * cross;
    links.push_back(link);
  }
  return links;
}

/// A spatial vector: twist, wrench or acceleration.
template <class S>
struct Spatial {
  Vector3<S> angular;
  Vector3<S> linear;
};

template <class S>
Spatial<S> operator+(const Spatial<S>& a, const Spatial<S>& b) {
  return {a.angular + b.angular, a.linear + b.linear};
}

/// The change of frame of one joint: rotation by E, translation by r.
template <class S>
struct Joint {
  Matrix3<S> e;
  Eigen::Vector3d r;

  Joint(const Link& link, const S& q) : r(link.offset) {
    using std::cos;
    using std::sin;
    const S c = cos(q), s = sin(q);
    for (int k = 0; k < 3; ++k) {
      const double x = link.rotation(0, k), y = link.rotation(1, k);
      e(0, k) = c * S(x) + s * S(y);
      e(1, k) = c * S(y) - s * S(x);
      e(2, k) = S(link.rotation(2, k));
    }
  }
  /// r x v
  Vector3<S> cross(const Vector3<S>& v) const {
    const S x = S(r[0]), y = S(r[1]), z = S(r[2]);
    return {y * v[2] - z * v[1], z * v[0] - x * v[2], x * v[1] - y * v[0]};
  }
  /// A motion, from the previous link's frame to this one's.
  Spatial<S> motion(const Spatial<S>& v) const { return {e * v.angular, e * (v.linear - cross(v.angular))}; }
  /// A force, back to the previous link's frame.
  Spatial<S> force_back(const Spatial<S>& f) const {
    const Vector3<S> linear = e.transpose() * f.linear;
    return {e.transpose() * f.angular + cross(linear), linear};
  }
};

/// [I H; H' M], symmetric.
template <class S>
struct Inertia {
  Matrix3<S> i, h, m;
};

template <class S>
Inertia<S> rigid(const Link& link) {
  return {link.inertia.template cast<S>(), skew(link.moment).template cast<S>(),
          (link.mass * Eigen::Matrix3d::Identity()).template cast<S>()};
}

template <class S>
Spatial<S> operator*(const Inertia<S>& a, const Spatial<S>& v) {
  return {a.i * v.angular + a.h * v.linear, a.h.transpose() * v.angular + a.m * v.linear};
}

/// The inertia of the moving link in the previous link's frame.
template <class S>
Inertia<S> moved_back(const Joint<S>& joint, const Inertia<S>& a) {
  const Matrix3<S> m = joint.e.transpose() * a.m * joint.e;
  const Matrix3<S> h0 = joint.e.transpose() * a.h * joint.e;
  Matrix3<S> h, i = joint.e.transpose() * a.i * joint.e;
  for (int k = 0; k < 3; ++k) h.col(k) = h0.col(k) + joint.cross(m.col(k));
  // i + r x h0' - h rx: rows of h times rx are (r x) of them, negated.
  for (int k = 0; k < 3; ++k) i.col(k) += joint.cross(h0.row(k).transpose());
  for (int k = 0; k < 3; ++k) i.row(k) += joint.cross(h.row(k).transpose()).transpose();
  return {i, h, m};
}

/// v x (0, 0, w) as motions: the contribution of rotation at w about the joint's axis to the acceleration.
template <class S>
Spatial<S> velocity_product(const Spatial<S>& v, const S& w) {
  const S zero(0);
  return {{v.angular[1] * w, -v.angular[0] * w, zero}, {v.linear[1] * w, -v.linear[0] * w, zero}};
}

/// v x* (inertia v)
template <class S>
Spatial<S> gyroscopic(const Inertia<S>& inertia, const Spatial<S>& v) {
  const Spatial<S> p = inertia * v;
  return {v.angular.cross(p.angular) + v.linear.cross(p.linear), v.angular.cross(p.linear)};
}

/// The acceleration of a base that rises against gravity, m / s^2.
template <class S>
Spatial<S> base_acceleration() {
  const S zero(0);
  return {{zero, zero, zero}, {zero, zero, S(9.81)}};
}

template <class S>
Spatial<S> at_rest() {
  const S zero(0);
  return {{zero, zero, zero}, {zero, zero, zero}};
}

/// The accelerations of the joints, rad / s^2, from angles, velocities and torques: [N] each.
template <int N, class S>
Eigen::Matrix<S, N, 1> forward_dynamics(const std::vector<Link>& links, const Eigen::Matrix<S, N, 1>& q,
                                        const Eigen::Matrix<S, N, 1>& velocity, const Eigen::Matrix<S, N, 1>& torque) {
  std::vector<Joint<S>> joints;
  std::vector<Spatial<S>> velocity_products, bias, u;
  std::vector<Inertia<S>> articulated;
  std::vector<S> d(N, S(0)), rest(N, S(0));
  Spatial<S> v = at_rest<S>();
  for (int i = 0; i < N; ++i) {
    joints.emplace_back(links[size_t(i)], q[i]);
    v = joints.back().motion(v);
    v.angular[2] = v.angular[2] + velocity[i];
    velocity_products.push_back(velocity_product<S>(v, velocity[i]));
    articulated.push_back(rigid<S>(links[size_t(i)]));
    bias.push_back(gyroscopic(articulated.back(), v));
  }
  u.resize(N, at_rest<S>());
  for (int i = N - 1; i >= 0; --i) {
    const size_t k = size_t(i);
    const Inertia<S>& a = articulated[k];
    u[k] = {a.i.col(2), a.h.row(2).transpose()};
    d[k] = S(1) / u[k].angular[2];
    rest[k] = torque[i] - bias[k].angular[2];
    if (i == 0) break;
    const Spatial<S> scaled{u[k].angular * d[k], u[k].linear * d[k]};
    const Inertia<S> free{a.i - u[k].angular * scaled.angular.transpose(),
                          a.h - u[k].angular * scaled.linear.transpose(),
                          a.m - u[k].linear * scaled.linear.transpose()};
    const Spatial<S> push{scaled.angular * rest[k], scaled.linear * rest[k]};
    const Spatial<S> p = bias[k] + free * velocity_products[k] + push;
    const Inertia<S> onto = moved_back(joints[k], free);
    articulated[k - 1] = {articulated[k - 1].i + onto.i, articulated[k - 1].h + onto.h, articulated[k - 1].m + onto.m};
    bias[k - 1] = bias[k - 1] + joints[k].force_back(p);
  }
  Eigen::Matrix<S, N, 1> result;
  Spatial<S> acceleration = base_acceleration<S>();
  for (int i = 0; i < N; ++i) {
    const size_t k = size_t(i);
    acceleration = joints[k].motion(acceleration) + velocity_products[k];
    result[i] = d[k] * (rest[k] - u[k].angular.dot(acceleration.angular) - u[k].linear.dot(acceleration.linear));
    acceleration.angular[2] = acceleration.angular[2] + result[i];
  }
  return result;
}

/// The torques, N m, that give these accelerations of the joints.
template <int N, class S>
Eigen::Matrix<S, N, 1> inverse_dynamics(const std::vector<Link>& links, const Eigen::Matrix<S, N, 1>& q,
                                        const Eigen::Matrix<S, N, 1>& velocity,
                                        const Eigen::Matrix<S, N, 1>& acceleration) {
  std::vector<Joint<S>> joints;
  std::vector<Spatial<S>> force;
  Spatial<S> v = at_rest<S>(), a = base_acceleration<S>();
  for (int i = 0; i < N; ++i) {
    joints.emplace_back(links[size_t(i)], q[i]);
    const Inertia<S> inertia = rigid<S>(links[size_t(i)]);
    v = joints.back().motion(v);
    v.angular[2] = v.angular[2] + velocity[i];
    a = joints.back().motion(a) + velocity_product<S>(v, velocity[i]);
    a.angular[2] = a.angular[2] + acceleration[i];
    force.push_back(inertia * a + gyroscopic(inertia, v));
  }
  Eigen::Matrix<S, N, 1> result;
  for (int i = N - 1; i >= 0; --i) {
    result[i] = force[size_t(i)].angular[2];
    if (i > 0) force[size_t(i) - 1] = force[size_t(i) - 1] + joints[size_t(i)].force_back(force[size_t(i)]);
  }
  return result;
}

}  // namespace robot
