// Carries and results of loops that are Eigen matrices of tracers.
#include <gtest/gtest.h>

#include "native/states.h"

namespace calque {
namespace {

using namespace test;
using D = Array<double>;
using M3 = Matrix<double, 3, 3>;
using V3 = Vector<double, 3>;

Eigen::Matrix3d matrix() { return (Eigen::Matrix3d() << 2, 1, 0, 0, 3, 1, 1, 0, 4).finished(); }

TEST(TypedCarries, KeepTheirTypeInEveryLoop) {
  const auto f = jit([](const M3& p) {
    const V3 f = fori_loop(0, 3, [&p](auto, auto v) { return (p * v).eval(); }, Eigen::Vector3d(1, 0, 0));
    const M3 w = while_loop([](const auto& s) { return s.squaredNorm() < 1000.0; },
                            [](const auto& s) { return (s * 2.0).eval(); }, p);
    const M3 c = cond(p(0, 0) > 0.0, [](const auto& a) { return a; }, [](const auto& a) -> M3 { return a * 2.0; }, p);
    const M3 s =
        switch_(1, std::tuple{[](const auto& a) { return a; }, [](const auto& a) -> M3 { return a * 3.0; }}, p);
    return std::tuple{f, w, c, s};
  });
  const Eigen::Matrix3d a = matrix();
  const auto [fr, wr, cr, sr] = f(a);
  EXPECT_EQ(Eigen::Vector3d(fr), Eigen::Vector3d(a * a * a.col(0)));
  Eigen::Matrix3d w = a;
  while (w.squaredNorm() < 1000) w *= 2;
  EXPECT_EQ(Eigen::Matrix3d(wr), w);
  EXPECT_EQ(Eigen::Matrix3d(cr), a);
  EXPECT_EQ(Eigen::Matrix3d(sr), Eigen::Matrix3d(3 * a));
}

TEST(TypedCarries, ScanCarriesMatricesAndStacksArrays) {
  const auto f = jit([](const M3& p) {
    auto [c, ys] = scan(
        [](const M3& q, auto i) {
          M3 next = q * 0.5 + M3(q.transpose());
          return std::pair{next, std::tuple{next.trace() * i, next}};
        },
        p, arange<double>(4));
    static_assert(std::is_same_v<decltype(c), M3>);
    static_assert(std::is_same_v<decltype(ys), std::tuple<Tracer<double>, Tracer<double>>>);
    return std::pair{c, ys};
  });
  Eigen::Matrix3d q = matrix();
  const auto [c, ys] = f(q);
  for (int i = 0; i < 4; ++i) {
    q = (q * 0.5 + q.transpose()).eval();
    EXPECT_DOUBLE_EQ(std::get<0>(ys)(i), q.trace() * i);
    EXPECT_DOUBLE_EQ(std::get<1>(ys)(i, 1, 2), q(1, 2));
  }
  EXPECT_TRUE(Eigen::Matrix3d(c).isApprox(q));
}

TEST(TypedCarries, InTuplesAndStructs) {
  const auto f = jit([](const M3& p) {
    auto t = fori_loop(
        0, 3,
        [](auto, auto s) {
          auto [a, b] = s;
          return std::tuple{V3(a * b), b};
        },
        std::tuple{V3(p.col(0)), 2.0});
    auto l = fori_loop(0, 2, [](auto, const auto& s) { return Layer<M3>{s.b, s.w}; }, Layer<M3>{p, p * 2.0});
    return std::tuple{std::get<0>(t), l.w};
  });
  const auto [v, w] = f(matrix());
  EXPECT_EQ(Eigen::Vector3d(v), Eigen::Vector3d(8 * matrix().col(0)));
  EXPECT_EQ(Eigen::Matrix3d(w), matrix());
}

TEST(TypedCarries, HaveGradients) {
  const auto f = [](const V3& x) {
    const V3 y = fori_loop(0, 3, [](auto, const V3& s) -> V3 { return s * 2.0; }, x);
    return y.dot(y);
  };
  const Eigen::Vector3d x(1, 2, 3), g = grad(f)(x);
  EXPECT_EQ(g, Eigen::Vector3d(128 * x));
}

}  // namespace
}  // namespace calque
