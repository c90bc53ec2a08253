// Matrices of tracers: Eigen's own arithmetic, recorded, gives what it gives on numbers.
#include <gtest/gtest.h>

#include "calque/eigen.h"

#include "classes/traced.h"

namespace calque::test {
namespace {

using TD = Tracer<double>;
template <int R, int C = R>
using TMatrix = Eigen::Matrix<TD, R, C>;
template <int N>
using TVector = Eigen::Matrix<TD, N, 1>;

/// An array as the matrix M of numbers, or of tracers.
template <class M, class A>
M as(const A& a) {
  return M(a);
}
Array<double> array_of(const Eigen::MatrixXd& m) { return Array<double>::from(m); }

/// `f` on matrices of tracers and on matrices of numbers gives the same.
template <int R, int C, class F>
void expect_as_numbers(const F& f, const Eigen::MatrixXd& m, double tolerance = 1e-12) {
  const AnyArray got = evaluated([&](TD x) { return f(TMatrix<R, C>(x)); }, array_of(m));
  const auto want = f(Eigen::Matrix<double, R, C>(m));
  using W = std::remove_cvref_t<decltype(want)>;
  AnyArray wanted;
  if constexpr (std::is_arithmetic_v<W>) {
    wanted = Array<double>(want);
  } else {
    wanted = dense<W>::copy(want);
  }
  EXPECT_EQ(got.type(), wanted.type());
  EXPECT_TRUE(allclose(got.as<double>(), wanted.as<double>(), tolerance, tolerance)) << got << "\n" << wanted;
}
Eigen::MatrixXd sample(int rows, int columns) {
  Eigen::MatrixXd m(rows, columns);
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < columns; ++j) m(i, j) = std::sin(1.0 + 3 * i + 7 * j) + (i == j ? 2 : 0);
  }
  return m;
}
template <class M>
auto plain(const M& m) {
  return typename M::PlainObject(m);
}

TEST(EigenOfTracers, ComputesAsOnNumbers) {
  const Eigen::MatrixXd m = sample(3, 3);
  expect_as_numbers<3, 3>([](auto a) { return plain(a * a.transpose() + 2.0 * a - a / 3.0); }, m);
  expect_as_numbers<3, 3>([](auto a) { return plain(a.cwiseProduct(a) - a.cwiseAbs()); }, m);
  expect_as_numbers<3, 3>([](auto a) { return plain(a.row(0).transpose().cross(a.col(1))); }, m);
  expect_as_numbers<3, 3>([](auto a) { return a.col(0).dot(a.col(2)); }, m);
  expect_as_numbers<3, 3>([](auto a) { return a.norm(); }, m);
  expect_as_numbers<3, 3>([](auto a) { return a.determinant(); }, m);
  expect_as_numbers<3, 3>([](auto a) { return a.trace() + a.sum() + a.prod(); }, m);
  expect_as_numbers<3, 3>([](auto a) { return plain(a.inverse()); }, m);
  expect_as_numbers<3, 3>([](auto a) { return plain(a.array().sin().exp().matrix()); }, m);
  expect_as_numbers<3, 3>([](auto a) { return plain(a.cwiseMax(a.transpose())); }, m);
  expect_as_numbers<3, 3>([](auto a) { return a.maxCoeff() - a.minCoeff(); }, m);
  expect_as_numbers<2, 2>([](auto a) { return plain(a.inverse() * a); }, sample(2, 2));
  expect_as_numbers<4, 4>([](auto a) { return plain(a.inverse()); }, sample(4, 4));
}

TEST(EigenOfTracers, TakesDynamicSizes) {
  const auto gram = [](auto a) { return plain(a * a.transpose()); };
  expect_as_numbers<Eigen::Dynamic, Eigen::Dynamic>(gram, sample(5, 7));
  const Array<double> x = array_of(sample(20, 20));
  const Graph g = traced_graph([&](TD t) { return gram(Eigen::Matrix<TD, -1, -1>(t)); }, x);
  EXPECT_GT(count(g, "mul"), 7999);
}

TEST(EigenOfTracers, MixWithNumbers) {
  const Eigen::Matrix3d k = sample(3, 3);
  const Eigen::MatrixXd m = sample(3, 1);
  expect_as_numbers<3, 1>([&](auto v) { return plain(k * v + v * 2.0); }, m);
  expect_as_numbers<3, 1>([&](auto v) { return plain(v.transpose() * k); }, m);
  expect_as_numbers<3, 1>([&](auto v) { return plain(v - k.col(0)); }, m);
}

TEST(EigenOfTracers, Rotate) {
  const Eigen::MatrixXd v = sample(3, 1);
  const auto rotate = [](auto u) {
    using S = typename decltype(u)::Scalar;
    using V = Eigen::Matrix<S, 3, 1>;
    const Eigen::AngleAxis<S> rotation(u(0), V(V::UnitZ()));
    const Eigen::Quaternion<S> q(rotation);
    return V(rotation.toRotationMatrix() * u + q * u);
  };
  expect_as_numbers<3, 1>(rotate, v);
}

TEST(EigenOfTracers, FillWithCommasAndIdentity) {
  const auto f = [](auto u) {
    using S = typename decltype(u)::Scalar;
    Eigen::Matrix<S, 2, 2> m;
    m << u(0), 0.0, S(1), u(1);
    Eigen::Matrix<S, 2, 2> r = m + Eigen::Matrix<S, 2, 2>::Identity() * 3.0;
    return r;
  };
  expect_as_numbers<2, 1>(f, sample(2, 1));
}

TEST(EigenOfTracers, GoBackAndForth) {
  const Array<double> x = {{1, 2, 3}, {4, 5, 6}};
  const AnyArray same = evaluated(
      [](TD t) {
        const Eigen::Matrix<TD, 2, 3> m = t;
        const TD back(m);
        const TD row(m.row(1));
        return std::tuple{back, row};
      },
      x);
  EXPECT_TRUE(array_equal(same.as<double>(), x));
  static_assert(!std::is_convertible_v<TVector<3>, TD>);
  static_assert(std::is_constructible_v<TD, TVector<3>>);
  static_assert(std::is_convertible_v<TD, TVector<3>>);
  message_of<ShapeError>([&] { evaluated([](TD t) { return TD(TMatrix<3>(t)); }, x); });
  message_of<LeakedTracerError>([&] { evaluated([](TD) { return TD(TMatrix<2>()); }, x); });
}

TEST(EigenOfTracers, ElementsMustBeScalars) {
  const std::string message = message_of<ShapeError>([] {
    evaluated(
        [](TD t) {
          TVector<2> v;
          v << t, t;
          return TD(v);
        },
        Array<double>{1, 2});
  });
  EXPECT_TRUE(message.starts_with("eigen: the elements of a matrix of tracers must be scalars, got f64[2]")) << message;
}

TEST(EigenOfTracers, RecordTheUsersLinesAndNotEigens) {
  unsigned first = 0;
  const Graph g = traced_graph(
      [&](TD t) {
        TVector<3> v = t;
        first = __LINE__;
        const TD s = v(0) + v(1);
        return TD(v * s);
      },
      Array<double>{1, 2, 3});
  for (const Equation& e : g.equations()) {
    if (e.primitive() != "mul") continue;
    EXPECT_NE(std::string_view(e.location().file_name()).find("tracers_test.cpp"), std::string_view::npos);
    EXPECT_EQ(e.location().line(), first + 1);
  }
}

// ---- functions for what in Eigen branches on values

TEST(EigenFunctions, NormalizedIsEigensAndDefinedAtZero) {
  const auto f = [](auto v) { return normalized(v); };
  expect_as_numbers<3, 1>(f, sample(3, 1));
  expect_as_numbers<3, 1>(f, Eigen::MatrixXd::Zero(3, 1));
  const Eigen::Vector3d v = sample(3, 1);
  EXPECT_TRUE(normalized(v).isApprox(v.normalized()));
  const Array<double> rows = {{3, 4}, {0, 0}};
  const auto got = evaluated_as<double>([](auto t) { return normalized(t); }, rows);
  EXPECT_TRUE(allclose(got, Array<double>{{0.6, 0.8}, {0, 0}}));
}

TEST(EigenFunctions, WhereSelectsElementsOrMatrices) {
  const Array<double> x = array_of(sample(3, 2));
  const auto got = evaluated_as<double>(
      [](TD t) {
        const TMatrix<3, 2> m = t;
        const TMatrix<3, 2> each = where(t > 0.5, m, -m), one = where(t.at(0, 0) > 0, each, m * 0.0);
        return TD(one);
      },
      x);
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 2; ++j) EXPECT_EQ(got(i, j), x(i, j) > 0.5 ? x(i, j) : -x(i, j));
  }
  message_of<ShapeError>(
      [&] { evaluated([](TD t) { return TD(where(t.at(0, 0) > 0, TMatrix<3, 2>(t), TMatrix<2>())); }, x); });
}

TEST(EigenFunctions, EqualComparesAllElements) {
  const Array<double> x = {1, 2, 3};
  const auto f = [](TD t) {
    const TVector<3> v = t, w = v * 1.0, u = v * 2.0;
    return std::tuple{equal(v, w), equal(v, u)};
  };
  const Graph g = traced_graph(f, x);
  const std::vector<AnyArray> got = reference::evaluate(g, std::vector<AnyArray>{x});
  EXPECT_TRUE(got[0].as<bool>().item());
  EXPECT_FALSE(got[1].as<bool>().item());
}

TEST(EigenFunctions, SlerpIsEigens) {
  const auto f = [](auto v) {
    using S = typename decltype(v)::Scalar;
    const Eigen::Quaternion<S> a(v(0), v(1), v(2), v(3)), b(v(4), v(5), v(6), v(7));
    return Eigen::Matrix<S, 4, 1>(slerp(S(v(8)), a, b).coeffs());
  };
  for (const double sign : {1.0, -1.0}) {
    const Eigen::Quaterniond a = Eigen::Quaterniond(1, 2, 3, 4).normalized(),
                             b = Eigen::Quaterniond(2, -1, 1, 0).normalized();
    Eigen::Matrix<double, 9, 1> v;
    v << a.w(), a.x(), a.y(), a.z(), sign * b.w(), sign * b.x(), sign * b.y(), sign * b.z(), 0.3;
    const Eigen::Quaterniond want = a.slerp(0.3, Eigen::Quaterniond(v(4), v(5), v(6), v(7)));
    EXPECT_TRUE(f(v).isApprox(want.coeffs(), 1e-12));
    expect_as_numbers<9, 1>(f, v);
    v.segment<4>(4) = v.head<4>();
    expect_as_numbers<9, 1>(f, v);
    EXPECT_TRUE(f(v).isApprox(a.coeffs(), 1e-12));
  }
}

TEST(EigenAlgorithms, ThatBranchOnValuesNameTheFunctionToUse) {
  const auto message = [](auto f) {
    return message_of<ConcretizationError>(
        [&] { evaluated([&](TD t) { return f(TMatrix<3>(t)); }, array_of(sample(3, 3))); });
  };
  EXPECT_NE(message([](auto m) { return TVector<3>(m.col(0).normalized()); }).find("cq::normalized"),
            std::string::npos);
  EXPECT_NE(message([](auto m) { return TMatrix<3>(m.llt().matrixL()); }).find("cq::linalg::cholesky"),
            std::string::npos);
  EXPECT_NE(message([](auto m) { return TMatrix<3>(m.partialPivLu().inverse()); }).find("cq::linalg::solve"),
            std::string::npos);
  EXPECT_NE(message([](auto m) { return TD(m == m); }).find("cq::equal"), std::string::npos);
}

}  // namespace
}  // namespace calque::test
