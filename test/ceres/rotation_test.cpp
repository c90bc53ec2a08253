// The templates of <ceres/rotation.h>, unmodified, as functors of tracers: values and Jacobians beside those of
// ceres::Jet, at and near zero rotation too.
#include <array>
#include <cmath>
#include <vector>

#include <ceres/jet.h>
#include <ceres/rotation.h>
#include <gtest/gtest.h>

#include "calque/calque.h"

namespace calque::test {
namespace {

using D = Array<double>;

/// f: a functor of one block of N numbers with R residuals.
template <int R, int N, class F>
void check(const char* name, const F& f, const std::vector<std::array<double, N>>& points) {
  using Jet = ceres::Jet<double, N>;
  const auto compiled = jit(residuals_and_jacobians(functor<R>(f)), {.branches = branches::all});
  for (const std::array<double, N>& point : points) {
    SCOPED_TRACE(name + testing::PrintToString(point));
    const auto [residuals, jacobians] = compiled(D::from(point, {N}));
    const D& jacobian = std::get<0>(jacobians);
    std::array<Jet, N> x;
    std::array<Jet, R> expected;
    for (int i = 0; i < N; ++i) x[static_cast<size_t>(i)] = Jet(point[static_cast<size_t>(i)], i);
    f(x.data(), expected.data());
    for (int r = 0; r < R; ++r) {
      const Jet& e = expected[static_cast<size_t>(r)];
      EXPECT_NEAR(residuals(r), e.a, 1e-14 * (1 + std::abs(e.a)));
      const double scale = 1 + e.v.cwiseAbs().maxCoeff();
      for (int i = 0; i < N; ++i) EXPECT_NEAR(jacobian(r, i), e.v[i], 1e-14 * scale) << r << " by " << i;
    }
  }
}

const std::vector<std::array<double, 3>> kVectors = {{0, 0, 0},           {1e-20, 0, 0},    {1e-9, -2e-9, 1e-9},
                                                     {1e-3, 2e-3, -3e-3}, {0.3, -0.2, 0.9}, {0, 0, 3.1415926},
                                                     {-2, 1, 2},          {3, 3, 3}};
const std::vector<std::array<double, 4>> kQuaternions = {
    {1, 0, 0, 0},     {0.5, 0.5, -0.5, 0.5}, {-0.5, 0.5, 0.5, 0.5}, {1, 1e-9, 0, -1e-9},
    {0.8, 0.6, 0, 0}, {0.1, -0.7, 0.5, 0.5}, {-1, 0, 0, 0},         {2, 1, -0.3, 0.4}};

struct AngleAxisToQuaternion {
  template <class T>
  bool operator()(const T* x, T* r) const {
    ceres::AngleAxisToQuaternion(x, r);
    return true;
  }
};
struct QuaternionToAngleAxis {
  template <class T>
  bool operator()(const T* x, T* r) const {
    ceres::QuaternionToAngleAxis(x, r);
    return true;
  }
};
struct AngleAxisToRotationMatrix {
  template <class T>
  bool operator()(const T* x, T* r) const {
    ceres::AngleAxisToRotationMatrix(x, r);
    return true;
  }
};
struct AngleAxisToRowMajorMatrix {
  template <class T>
  bool operator()(const T* x, T* r) const {
    ceres::AngleAxisToRotationMatrix(x, ceres::RowMajorAdapter3x3(r));
    return true;
  }
};
struct EulerAnglesToRotationMatrix {
  template <class T>
  bool operator()(const T* x, T* r) const {
    ceres::EulerAnglesToRotationMatrix(x, 3, r);
    return true;
  }
};
struct QuaternionToScaledRotation {
  template <class T>
  bool operator()(const T* x, T* r) const {
    ceres::QuaternionToScaledRotation(x, r);
    return true;
  }
};
struct QuaternionToRotation {
  template <class T>
  bool operator()(const T* x, T* r) const {
    ceres::QuaternionToRotation(x, r);
    return true;
  }
};
struct RotationMatrixToQuaternion {
  template <class T>
  bool operator()(const T* x, T* r) const {
    ceres::RotationMatrixToQuaternion(x, r);
    return true;
  }
};
struct RotationMatrixToAngleAxis {
  template <class T>
  bool operator()(const T* x, T* r) const {
    ceres::RotationMatrixToAngleAxis(x, r);
    return true;
  }
};
struct AngleAxisRotatePoint {
  template <class T>
  bool operator()(const T* x, T* r) const {
    ceres::AngleAxisRotatePoint(x, x + 3, r);
    return true;
  }
};
struct UnitQuaternionRotatePoint {
  template <class T>
  bool operator()(const T* x, T* r) const {
    ceres::UnitQuaternionRotatePoint(x, x + 4, r);
    return true;
  }
};
struct QuaternionRotatePoint {
  template <class T>
  bool operator()(const T* x, T* r) const {
    ceres::QuaternionRotatePoint(x, x + 4, r);
    return true;
  }
};
struct QuaternionProduct {
  template <class T>
  bool operator()(const T* x, T* r) const {
    ceres::QuaternionProduct(x, x + 4, r);
    return true;
  }
};
struct Products {
  template <class T>
  bool operator()(const T* x, T* r) const {
    ceres::CrossProduct(x, x + 3, r);
    r[3] = ceres::DotProduct(x, x + 3);
    return true;
  }
};

/// Each of the points followed by these numbers.
template <int M, size_t N>
std::vector<std::array<double, N + M>> followed(const std::vector<std::array<double, N>>& points,
                                                const std::array<double, M>& by) {
  std::vector<std::array<double, N + M>> all;
  for (const auto& p : points) {
    auto& x = all.emplace_back();
    std::ranges::copy(p, x.begin());
    std::ranges::copy(by, x.begin() + N);
  }
  return all;
}
/// The rotations by the vectors, column-major; of every case of the conversion.
std::vector<std::array<double, 9>> matrices() {
  std::vector<std::array<double, 9>> all;
  for (const auto& v : kVectors) ceres::AngleAxisToRotationMatrix(v.data(), all.emplace_back().data());
  for (const std::array<double, 3>& v : {std::array{3.0, 0.1, 0.2}, {0.1, 3.0, 0.2}, {0.2, 0.1, 3.0}}) {
    ceres::AngleAxisToRotationMatrix(v.data(), all.emplace_back().data());
  }
  return all;
}

TEST(CeresRotation, OfVectors) {
  check<4, 3>("AngleAxisToQuaternion", AngleAxisToQuaternion(), kVectors);
  check<9, 3>("AngleAxisToRotationMatrix", AngleAxisToRotationMatrix(), kVectors);
  check<9, 3>("AngleAxisToRotationMatrix by rows", AngleAxisToRowMajorMatrix(), kVectors);
  check<9, 3>("EulerAnglesToRotationMatrix", EulerAnglesToRotationMatrix(), kVectors);
  check<3, 6>("AngleAxisRotatePoint", AngleAxisRotatePoint(), followed<3>(kVectors, {0.3, -2, 0.7}));
  check<4, 6>("CrossProduct and DotProduct", Products(), followed<3>(kVectors, {0.3, -2, 0.7}));
}

TEST(CeresRotation, OfQuaternions) {
  check<3, 4>("QuaternionToAngleAxis", QuaternionToAngleAxis(), kQuaternions);
  check<9, 4>("QuaternionToScaledRotation", QuaternionToScaledRotation(), kQuaternions);
  check<9, 4>("QuaternionToRotation", QuaternionToRotation(), kQuaternions);
  check<3, 7>("UnitQuaternionRotatePoint", UnitQuaternionRotatePoint(), followed<3>(kQuaternions, {0.3, -2, 0.7}));
  check<3, 7>("QuaternionRotatePoint", QuaternionRotatePoint(), followed<3>(kQuaternions, {0.3, -2, 0.7}));
  check<4, 8>("QuaternionProduct", QuaternionProduct(), followed<4>(kQuaternions, {0.3, -2, 0.7, 1}));
}

TEST(CeresRotation, OfMatrices) {
  check<4, 9>("RotationMatrixToQuaternion", RotationMatrixToQuaternion(), matrices());
  check<3, 9>("RotationMatrixToAngleAxis", RotationMatrixToAngleAxis(), matrices());
}

}  // namespace
}  // namespace calque::test
