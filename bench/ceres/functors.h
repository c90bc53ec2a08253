#pragma once
// Cost functors as programs with Ceres have them, and the numbers of a problem in plain memory.
#include <cmath>
#include <cstdint>

namespace models {

/// A point of the curve y = exp(m x + c).
template <class S>
struct Curve {
  S x, y;
  template <class T>
  bool operator()(const T* m, const T* c, T* residual) const {
    using std::exp;
    residual[0] = y - exp(m[0] * x + c[0]);
    return true;
  }
};

/// The rotation of a point by a rotation vector.
template <class T>
void rotate(const T* v, const T* p, T* out) {
  using std::cos, std::sin, std::sqrt;
  const T square = v[0] * v[0] + v[1] * v[1] + v[2] * v[2];
  const T cross[3] = {v[1] * p[2] - v[2] * p[1], v[2] * p[0] - v[0] * p[2], v[0] * p[1] - v[1] * p[0]};
  if (square > T(0.0)) {
    const T angle = sqrt(square), c = cos(angle), s = sin(angle) / angle;
    const T along = (v[0] * p[0] + v[1] * p[1] + v[2] * p[2]) * (T(1.0) - c) / square;
    for (int i = 0; i < 3; ++i) out[i] = p[i] * c + cross[i] * s + v[i] * along;
  } else {
    for (int i = 0; i < 3; ++i) out[i] = p[i] + cross[i];
  }
}

/// A rotated point.
template <class S>
struct Rotated {
  S x, y, z;
  template <class T>
  bool operator()(const T* rotation, const T* point, T* residuals) const {
    rotate(rotation, point, residuals);
    residuals[0] -= x;
    residuals[1] -= y;
    residuals[2] -= z;
    return true;
  }
};

/// The image of a point in a camera of nine parameters: rotation vector, translation, focal length, two distortions.
template <class S>
struct Projection {
  S u, v;
  template <class T>
  bool operator()(const T* camera, const T* point, T* residuals) const {
    T p[3];
    rotate(camera, point, p);
    for (int i = 0; i < 3; ++i) p[i] += camera[3 + i];
    const T x = -p[0] / p[2], y = -p[1] / p[2];
    const T square = x * x + y * y;
    const T scale = camera[6] * (1.0 + square * (camera[7] + camera[8] * square));
    residuals[0] = scale * x - u;
    residuals[1] = scale * y - v;
    return true;
  }
};

/// The position of a pose as seen from another and the turn between them, where a pose is a rotation vector and a
/// translation, beside what was measured.
template <class S>
struct Between {
  S x, y, z, a, b, c;
  template <class T>
  bool operator()(const T* from, const T* to, T* residuals) const {
    const T back[3] = {-from[0], -from[1], -from[2]}, step[3] = {to[3] - from[3], to[4] - from[4], to[5] - from[5]};
    rotate(back, step, residuals);
    T turn[3];
    rotate(back, to, turn);
    residuals[0] -= x;
    residuals[1] -= y;
    residuals[2] -= z;
    residuals[3] = turn[0] - from[0] - a;
    residuals[4] = turn[1] - from[1] - b;
    residuals[5] = turn[2] - from[2] - c;
    return true;
  }
};

/// The direction in which a landmark is seen from a pose, a rotation vector and a position, beside what was measured, a
/// unit vector.
template <class S>
struct Bearing {
  S x, y, z;
  template <class T>
  bool operator()(const T* pose, const T* landmark, T* residuals) const {
    using std::sqrt;
    const T back[3] = {-pose[0], -pose[1], -pose[2]};
    const T away[3] = {landmark[0] - pose[3], landmark[1] - pose[4], landmark[2] - pose[5]};
    T seen[3];
    rotate(back, away, seen);
    const T distance = sqrt(seen[0] * seen[0] + seen[1] * seen[1] + seen[2] * seen[2]);
    residuals[0] = seen[0] / distance - x;
    residuals[1] = seen[1] / distance - y;
    residuals[2] = seen[2] / distance - z;
    return true;
  }
};

/// The scale of the loss of bearings, Cauchy's.
inline constexpr double kBearingLoss = 0.5;

}  // namespace models

/// Observations: `columns` numbers of each, one column after the other, and the indices of its two blocks.
struct Observations {
  int64_t count;
  const double* columns;
  const int32_t *first_of, *second_of;
  double *first, *second;  // the blocks, one after another
};
