#pragma once
// Cost functors in the forms that programs have.
#include <cmath>

#include "calque/calque.h"
#include "calque/eigen.h"

namespace calque::test {

/// Residuals of a curve y = exp(m x + c), of an observation that the functor holds.
class Curve {
 public:
  Curve(double x, double y) : x_(x), y_(y) {}
  template <typename T>
  bool operator()(const T* const m, const T* const c, T* residual) const {
    using std::exp;
    residual[0] = y_ - exp(m[0] * x_ + c[0]);
    return true;
  }

 private:
  const double x_, y_;
};

/// Four residuals of four blocks of one number.
struct Powell {
  template <class T>
  bool operator()(const T* x1, const T* x2, const T* x3, const T* x4, T* r) const {
    r[0] = x1[0] + 10.0 * x2[0];
    r[1] = std::sqrt(5.0) * (x3[0] - x4[0]);
    r[2] = (x2[0] - 2.0 * x3[0]) * (x2[0] - 2.0 * x3[0]);
    const T d = x1[0] - x4[0];
    r[3] = std::sqrt(10.0) * d * d;
    return true;
  }
};

/// The blocks as a list of pointers.
struct Listed {
  template <typename T>
  bool operator()(const T* const* blocks, T* residuals) const {
    residuals[0] = blocks[0][0] * blocks[1][1];
    residuals[1] = T(2.0) * blocks[1][0] / blocks[0][2];
    return true;
  }
};

/// The pointers as vectors of Eigen.
struct Mapped {
  template <typename T>
  bool operator()(const T* const a, const T* const b, T* residuals) const {
    const Eigen::Map<const Eigen::Matrix<T, 3, 1>> u(a), v(b);
    Eigen::Map<Eigen::Matrix<T, 3, 1>> out(residuals);
    out = u.cross(v) + T(2) * u * v.squaredNorm();
    return true;
  }
};

/// A camera of nine parameters that looks at a point: rotation vector, translation, focal length and two distortions.
struct Projection {
  double u, v;
  template <typename T>
  bool operator()(const T* camera, const T* point, T* residuals) const {
    const T square = camera[0] * camera[0] + camera[1] * camera[1] + camera[2] * camera[2];
    T p[3];
    const T cross[3] = {camera[1] * point[2] - camera[2] * point[1], camera[2] * point[0] - camera[0] * point[2],
                        camera[0] * point[1] - camera[1] * point[0]};
    if (square > T(0.0)) {
      const T angle = sqrt(square), c = cos(angle), s = sin(angle) / angle;
      const T along = (camera[0] * point[0] + camera[1] * point[1] + camera[2] * point[2]) * (T(1.0) - c) / square;
      for (int i = 0; i < 3; ++i) p[i] = point[i] * c + cross[i] * s + camera[i] * along;
    } else {
      for (int i = 0; i < 3; ++i) p[i] = point[i] + cross[i];
    }
    for (int i = 0; i < 3; ++i) p[i] += camera[3 + i];
    const T x = -p[0] / p[2], y = -p[1] / p[2];
    const T r2 = x * x + y * y;
    const T distortion = 1.0 + r2 * (camera[7] + camera[8] * r2);
    residuals[0] = camera[6] * distortion * x - u;
    residuals[1] = camera[6] * distortion * y - v;
    return true;
  }
};

}  // namespace calque::test
