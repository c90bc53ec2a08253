#pragma once
// A vehicle seen by range and bearing: its models and the equations of the extended Kalman filter, for any scalar.
#include <cmath>
#include <random>
#include <vector>

#include "calque/calque.h"
#include "calque/eigen.h"

namespace calque::test {

using std::atan2;
using std::cos;
using std::sin;
using std::sqrt;

template <class S>
using Vec4 = Eigen::Matrix<S, 4, 1>;
template <class S>
using Mat4 = Eigen::Matrix<S, 4, 4>;
template <class S>
using Vec2 = Eigen::Matrix<S, 2, 1>;

/// Position, heading and speed, and their covariance.
template <class S>
struct Belief {
  Vec4<S> x;
  Mat4<S> P;
};
constexpr double kStep = 0.1;

template <class S>
Vec4<S> move(const Vec4<S>& x) {
  Vec4<S> next = x;
  next(0) += kStep * x(3) * cos(x(2));
  next(1) += kStep * x(3) * sin(x(2));
  next(2) += 0.05 * x(3);
  return next;
}
/// Range and bearing of the origin.
template <class S>
Vec2<S> measure(const Vec4<S>& x) {
  return {sqrt(x(0) * x(0) + x(1) * x(1)), atan2(x(1), x(0))};
}
inline Mat4<double> move_derivative(const Vec4<double>& x) {
  Mat4<double> f = Mat4<double>::Identity();
  f(0, 2) = -kStep * x(3) * sin(x(2));
  f(0, 3) = kStep * cos(x(2));
  f(1, 2) = kStep * x(3) * cos(x(2));
  f(1, 3) = kStep * sin(x(2));
  f(2, 3) = 0.05;
  return f;
}
inline Eigen::Matrix<double, 2, 4> measure_derivative(const Vec4<double>& x) {
  const double r2 = x(0) * x(0) + x(1) * x(1), r = sqrt(r2);
  Eigen::Matrix<double, 2, 4> h = Eigen::Matrix<double, 2, 4>::Zero();
  h << x(0) / r, x(1) / r, 0, 0, -x(1) / r2, x(0) / r2, 0, 0;
  return h;
}
template <class S>
Mat4<S> process_noise() {
  return Mat4<double>(Vec4<double>(1e-3, 1e-3, 1e-4, 1e-3).asDiagonal()).cast<S>();
}
template <class S>
Eigen::Matrix<S, 2, 2> sensor_noise() {
  return Eigen::Matrix2d(Eigen::Vector2d(0.02, 0.005).asDiagonal()).cast<S>();
}

/// The filter's equations for any scalar.
template <class S>
Belief<S> predict(const Belief<S>& b, const Mat4<S>& F) {
  return {move(b.x), F * b.P * F.transpose() + process_noise<S>()};
}
template <class S>
Belief<S> update(const Belief<S>& b, const Vec2<S>& z, const Eigen::Matrix<S, 2, 4>& H) {
  const Eigen::Matrix<S, 2, 2> innovation = H * b.P * H.transpose() + sensor_noise<S>();
  const Eigen::Matrix<S, 4, 2> K = b.P * H.transpose() * innovation.inverse();
  return {b.x + K * (z - measure(b.x)), (Mat4<S>::Identity() - K * H) * b.P};
}

inline std::vector<Eigen::Vector2d> measurements(int count) {
  std::mt19937 engine(7);
  std::normal_distribution<double> noise;
  std::vector<Eigen::Vector2d> list;
  Vec4<double> truth(5, 1, 0.3, 2);
  for (int i = 0; i < count; ++i) {
    truth = move(truth);
    list.push_back(measure(truth) + Eigen::Vector2d(0.1 * noise(engine), 0.05 * noise(engine)));
  }
  return list;
}
inline Belief<double> start() { return {{5.5, 0.5, 0.2, 1.5}, Mat4<double>::Identity()}; }

}  // namespace calque::test
