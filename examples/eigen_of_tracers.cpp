// Code written for Eigen's small matrices, with tracers as scalars: the rotation of a free rigid body. The same
// template works for doubles; each component becomes scalar arithmetic in one compiled function.
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <tuple>

#include <calque/calque.h>
#include <calque/eigen.h>

namespace cq = calque;

template <class S>
using Vector3 = Eigen::Matrix<S, 3, 1>;
using D = cq::Tracer<double>;

const Eigen::Vector3d kInertia(1.0, 2.0, 3.0);

/// Euler's equations: the change of the angular velocity, in the body's frame.
template <class S>
Vector3<S> acceleration(const Vector3<S>& omega) {
  const Vector3<S> momentum = kInertia.cwiseProduct(omega);
  return kInertia.cwiseInverse().cwiseProduct(Vector3<S>(-omega.cross(momentum)));
}

/// One step of the classical Runge-Kutta method.
template <class S>
Vector3<S> step(const Vector3<S>& w, double h) {
  const Vector3<S> k1 = acceleration<S>(w), k2 = acceleration<S>(w + 0.5 * h * k1),
                   k3 = acceleration<S>(w + 0.5 * h * k2), k4 = acceleration<S>(w + h * k3);
  return w + (h / 6) * (k1 + 2.0 * k2 + 2.0 * k3 + k4);
}

int main() {
  const double h = 0.01;
  // Arrays of shape [3] are converted to vectors of tracers and back; the loop is a loop of the native code.
  auto tumble = cq::jit([h](auto omega) {
    return cq::fori_loop(0, 2000, [h](auto, auto w) { return D(step<D>(Vector3<D>(w), h)); }, omega);
  });
  const Eigen::Vector3d start(0.01, 1.0, 0.01);  // about the middle axis: it will flip
  const Eigen::Vector3d end = tumble(start);

  Eigen::Vector3d expected = start;
  for (int i = 0; i < 2000; ++i) expected = step<double>(expected, h);
  const auto energy = [](const Eigen::Vector3d& w) { return w.dot(kInertia.cwiseProduct(w)); };
  std::cout << "angular velocity " << end.transpose() << ", energy " << energy(start) << " before, " << energy(end)
            << " after\n";

  // A rotation about an axis, from Eigen's geometry module.
  auto rotate = cq::jit([](auto v, auto angle) {
    const Vector3<D> axis(D(0.0), D(0.0), D(1.0));
    return Vector3<D>(Eigen::AngleAxis<D>(angle, axis).toRotationMatrix() * Vector3<D>(v));
  });
  const Eigen::Vector3d rotated = rotate(Eigen::Vector3d(1, 0, 2), std::acos(-1.0) / 2);

  const bool right = (end - expected).norm() < 1e-9 && std::abs(energy(end) - energy(start)) < 1e-6 &&
                     (rotated - Eigen::Vector3d(0, 1, 2)).norm() < 1e-12;
  return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
