// functor and residuals_and_jacobians: the forms of cost functors, their results and derivatives, vmap, errors.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "calque/calque.h"
#include "calque/eigen.h"

#include "differences.h"
#include "jit/messages.h"

namespace calque::test {
namespace {

using D = Array<double>;
using F = Array<float>;

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
const D kCamera = {0.1, -0.2, 0.3, 0.4, 0.1, -5, 500, 0.01, -0.002};
const D kPoint = {0.3, -0.7, 0.2};

TEST(Functor, OfTheFormsOfCostFunctors) {
  EXPECT_NEAR(functor<1>(Curve(2, 3))(0.5, 0.25)(0), 3 - std::exp(1.25), 1e-15);
  EXPECT_NEAR(functor<1>(Curve(2, 3))(D{0.5}, D{0.25})(0), 3 - std::exp(1.25), 1e-15);
  EXPECT_TRUE(allclose(functor<4>(Powell())(3.0, -1.0, 0.0, 1.0), D{-7, -std::sqrt(5), 1, 4 * std::sqrt(10)}, 1e-15));
  EXPECT_TRUE(array_equal(functor<2>(Listed())(D{1, 2, 4}, D{5, 6}), D{6, 2.5}));
  EXPECT_TRUE(array_equal(functor<3>(Mapped())(D{1, 0, 0}, D{0, 1, 0}), D{2, 0, 1}));
  const auto lambda = [](const auto* x, auto* r) { r[0] = x[1] - x[0]; };
  EXPECT_EQ(functor<1>(lambda)(D{1, 3})(0), 2);
}

TEST(Functor, TakesNumbersAndVectorsOfEigen) {
  const Eigen::Vector3d a(1, 2, 3), b(0, -1, 2);
  const D expected = functor<3>(Mapped())(D{1, 2, 3}, D{0, -1, 2});
  EXPECT_TRUE(array_equal(functor<3>(Mapped())(a, b), expected));
  EXPECT_TRUE(array_equal(functor<3>(Mapped())(std::vector<double>{1, 2, 3}, b), expected));
  const auto typed =
      jit([](const Vector<double, 3>& u, const Vector<double, 3>& v) { return functor<3>(Mapped())(u, v); });
  EXPECT_TRUE(array_equal(typed(a, b), expected));
}

TEST(Functor, HasTheTypeOfItsBlocks) {
  const F f = functor<2>(Listed())(F{1, 2, 4}, F{5, 6});
  EXPECT_TRUE(array_equal(f, F{6, 2.5}));
  const D promoted = functor<2>(Listed())(F{1, 2, 4}, D{5, 6});
  EXPECT_TRUE(array_equal(promoted, D{6, 2.5}));
}

TEST(Functor, WithANumberOfResidualsKnownAtRunTime) {
  for (int n = 1; n < 5; ++n) {
    const auto powers = [n](const auto* x, auto* r) {
      r[0] = x[0];
      for (int i = 1; i < n; ++i) r[i] = r[i - 1] * x[0];
    };
    const D r = functor(powers, n)(D{3});
    ASSERT_EQ(r.size(), n);
    EXPECT_EQ(r(n - 1), std::pow(3, n));
    check_jacobians(functor(powers, n), std::tuple{D{3}});
  }
}

TEST(Functor, JacobiansAgainstDifferences) {
  check_jacobians(functor<1>(Curve(2, 3)), std::tuple{D{0.5}, D{0.25}});
  check_jacobians(functor<4>(Powell()), std::tuple{D{3}, D{-1}, D{0.5}, D{1}});
  check_jacobians(functor<2>(Listed()), std::tuple{D{1, 2, 4}, D{5, 6}});
  check_jacobians(functor<3>(Mapped()), std::tuple{D{1, 2, 3}, D{0, -1, 2}});
  check_jacobians(functor<2>(Projection{1, 2}), std::tuple{kCamera, kPoint}, 1e-8);
  check_jacobians(functor<2>(Projection{1, 2}), std::tuple{kCamera.set(range(0, 3), 0), kPoint}, 1e-8);
}

TEST(Functor, JacobiansHaveAColumnForNumbersAndAreOfTheBlocksType) {
  const auto [r, j] = residuals_and_jacobians(functor<1>(Curve(2, 3)))(0.5, 0.25f);
  EXPECT_EQ(std::get<0>(j).shape(), (Shape{1, 1}));
  EXPECT_EQ(std::get<0>(j).dtype(), DType::f64);
  EXPECT_EQ(std::get<1>(j).dtype(), DType::f32);
  EXPECT_NEAR(std::get<0>(j).item(), -2 * std::exp(1.25), 1e-14);
  EXPECT_NEAR(std::get<1>(j).item(), -std::exp(1.25), 1e-6);
}

TEST(Functor, JacobiansOfOtherFunctions) {
  const auto [r, j] = residuals_and_jacobians([](auto a, auto s) { return a * s; })(D{{1, 2}, {3, 4}}, 2.0);
  EXPECT_TRUE(array_equal(r, D{2, 4, 6, 8}));
  EXPECT_TRUE(array_equal(std::get<0>(j), D::eye(4) * 2.0));
  EXPECT_TRUE(array_equal(std::get<1>(j), D{{1}, {2}, {3}, {4}}));
}

TEST(Functor, IsTransformedAndNested) {
  const auto cost = [](auto x) { return 0.5 * sum(square(functor<2>(Listed())(x, D{5, 6}))); };
  const auto [r, j] = residuals_and_jacobians(functor<2>(Listed()))(D{1, 2, 4}, D{5, 6});
  EXPECT_TRUE(allclose(grad(cost)(D{1, 2, 4}), matmul(r, std::get<0>(j)), 1e-14));
  const D step = jit([](auto x) {
    const auto [r, j] = residuals_and_jacobians(functor<3>(Mapped()))(x, D{0, 1, 0});
    return x - linalg::solve(std::get<0>(j), r);
  })(D{1, 2, 3});
  EXPECT_TRUE(allclose(step, D{0, 0, 0}, 1e-14, 1e-14));
}

TEST(Functor, OverABatchAgainstALoop) {
  const int64_t n = 7;
  const D cameras = reshape(kCamera, {1, -1}) + 0.01 * sin(reshape(D::arange(n * 9), {n, 9}));
  const D points = reshape(kPoint, {1, -1}) + 0.1 * cos(reshape(D::arange(n * 3), {n, 3}));
  const auto g = functor<2>(Projection{1, 2});
  const auto batch = jit(vmap(residuals_and_jacobians(g)), {.branches = branches::all});
  const auto [residuals, jacobians] = batch(cameras, points);
  EXPECT_EQ(std::get<0>(jacobians).shape(), (Shape{n, 2, 9}));
  for (int64_t i = 0; i < n; ++i) {
    const auto [r, j] = residuals_and_jacobians(g)(D(cameras[i]), D(points[i]));
    EXPECT_TRUE(allclose(residuals[i], r, 1e-12, 1e-12));
    EXPECT_TRUE(allclose(std::get<0>(jacobians)[i], std::get<0>(j), 1e-12, 1e-12));
    EXPECT_TRUE(allclose(std::get<1>(jacobians)[i], std::get<1>(j), 1e-12, 1e-12));
  }
}

/// As Curve, of the type of its observation.
template <class S>
struct Observation {
  S x, y;
  template <class T>
  void operator()(const T* m, const T* c, T* residual) const {
    residual[0] = y - exp(m[0] * x + c[0]);
  }
};
/// The same with a constructor.
template <class S>
class Observed {
 public:
  Observed(S x, S y) : x_(x), y_(y) {}
  template <class T>
  bool operator()(const T* m, const T* c, T* residual) const {
    residual[0] = y_ - exp(m[0] * x_ + c[0]);
    return true;
  }

 private:
  S x_, y_;
};

TEST(Functor, AsAnArgumentOnesMembersAreBatched) {
  const D x = {0, 0.5, 1, 2}, y = {1, 2, 3, 4}, m = {0.5}, c = {0.25};
  const VmapOptions each{.in_axes = {0, none, none}};
  const D residuals = vmap(functor<1>(), each)(Observation<D>{x, y}, m, c);
  const auto [r, j] = vmap(residuals_and_jacobians(functor<1>()), each)(Observation<D>{x, y}, m, c);
  const auto constructed = [](auto x, auto y, auto m, auto c) { return functor<1>(Observed(x, y))(m, c); };
  const D same = vmap(constructed, {.in_axes = {0, 0, none, none}})(x, y, m, c);
  ASSERT_EQ(residuals.shape(), (Shape{4, 1}));
  EXPECT_TRUE(array_equal(r, residuals));
  EXPECT_TRUE(array_equal(same, residuals));
  for (int64_t i = 0; i < 4; ++i) {
    const auto [r1, j1] = residuals_and_jacobians(functor<1>(Curve(x(i), y(i))))(m, c);
    EXPECT_NEAR(residuals(i, 0), r1(0), 1e-14);
    EXPECT_NEAR(std::get<0>(j)(i, 0, 0), std::get<0>(j1)(0, 0), 1e-14);
    EXPECT_NEAR(std::get<1>(j)(i, 0, 0), std::get<1>(j1)(0, 0), 1e-14);
  }
}

/// The functor has no residuals for negative numbers.
struct Root {
  template <class T>
  bool operator()(const T* x, T* r) const {
    if (x[0] < T(0)) return false;
    r[0] = sqrt(x[0]);
    return true;
  }
};

TEST(Functor, ResidualsAreNaNWhereItReturnsFalse) {
  const auto g = functor<1>(Root());
  EXPECT_EQ(g(D{4})(0), 2);
  EXPECT_TRUE(std::isnan(g(D{-4})(0)));
  EXPECT_EQ(std::get<0>(residuals_and_jacobians(g)(D{4}).second)(0, 0), 0.25);
  const D batch = jit(vmap(g), {.branches = branches::all})(D{{1}, {-1}, {9}});
  EXPECT_EQ(batch(0, 0), 1);
  EXPECT_TRUE(std::isnan(batch(1, 0)));
  EXPECT_EQ(batch(2, 0), 3);
  const auto chosen = [](const auto* x, auto* r) {
    r[0] = x[0];
    return x[0] > 0.0;
  };
  EXPECT_EQ(functor<1>(chosen)(D{4})(0), 4);
  EXPECT_TRUE(std::isnan(functor<1>(chosen)(D{-4})(0)));
}

TEST(Functor, Errors) {
  const auto wrong = [](const auto* x, auto* r) {
    r[0] = x[0];
    return false;
  };
  std::string line = line_below();
  EXPECT_EQ(message_of<Error>([&] { (void)functor<1>(wrong)(D{1}); }),
            "functor: the functor returned false whatever the data, so that it has no residuals" + line);
  line = line_below();
  EXPECT_EQ(message_of<Error>([&] { (void)functor<3>(Listed())(D{1, 2, 3}, D{1, 2}); }),
            "functor: residual 2 of 3 was never assigned" + line);
  line = line_below();
  EXPECT_EQ(message_of<ShapeError>([&] { (void)functor<2>(Listed())(D{{1, 2, 3}}, D{1, 2}); }),
            "functor: block 0 must be a vector, whose elements the functor's pointer goes along, got f64[1,3]; reshape "
            "it to {-1}" +
                line);
  const auto whole = [](const auto* x, auto* r) { r[0] = x[0] + D{1, 2}; };
  line = line_below();
  EXPECT_EQ(message_of<ShapeError>([&] { (void)functor<1>(whole)(D{1}); }),
            "functor: residual 0 must be a scalar, got f64[2]" + line);
  line = line_below();
  EXPECT_EQ(message_of<Error>([&] { (void)functor(Listed(), 0); }),
            "functor: a functor has at least one residual, got 0" + line);
}

}  // namespace
}  // namespace calque::test
