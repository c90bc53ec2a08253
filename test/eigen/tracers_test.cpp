// Matrices of tracers: made from tracers and numbers, returned, and the lines that they record.
#include "eigen/traced_matrices.h"

namespace calque::test {
namespace {

TEST(EigenOfTracers, TakesDynamicSizes) {
  const auto gram = [](auto a) { return plain(a * a.transpose()); };
  expect_as_numbers<Eigen::Dynamic, Eigen::Dynamic>(gram, sample(5, 7));
  const AnyArray x = any_of(sample(20, 20));
  const Graph g = graph_of([&](TD t) { return TD(gram(Eigen::Matrix<TD, -1, -1>(t))); }, x);
  EXPECT_GT(count(g, "mul"), 7999);
}

TEST(EigenOfTracers, MixWithNumbers) {
  const Eigen::Matrix3d k = sample(3, 3);
  const Eigen::MatrixXd m = sample(3, 1);
  expect_as_numbers<3, 1>([&](auto v) { return plain(k * v + v * 2.0); }, m);
  expect_as_numbers<3, 1>([&](auto v) { return plain(v.transpose() * k); }, m);
  expect_as_numbers<3, 1>([&](auto v) { return plain(v - k.col(0)); }, m);
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
  const AnyArray same = result_of([](TD t) { return TD(Eigen::Matrix<TD, 2, 3>(t)); }, x);
  EXPECT_TRUE(array_equal(same.as<double>(), x));
  const AnyArray row = result_of([](TD t) { return TD(Eigen::Matrix<TD, 2, 3>(t).row(1)); }, x);
  EXPECT_TRUE(array_equal(row.as<double>(), Array<double>{4, 5, 6}));
  static_assert(!std::is_convertible_v<TVector<3>, TD>);
  static_assert(std::is_constructible_v<TD, TVector<3>>);
  static_assert(std::is_convertible_v<TD, TVector<3>>);
  message_of<ShapeError>([&] { result_of([](TD t) { return TD(TMatrix<3>(t)); }, x); });
  EXPECT_EQ(result_of([](TD) { return sum(TD(TMatrix<2>())); }, x).as<double>().item(), 0);
}

TEST(EigenOfTracers, ElementsMustBeScalars) {
  const std::string message = message_of<ShapeError>([] {
    result_of(
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
  const Graph g = graph_of(
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

}  // namespace
}  // namespace calque::test
