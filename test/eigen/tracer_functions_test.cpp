// Functions of matrices of tracers that replace Eigen functions which branch on values.
#include "eigen/traced_matrices.h"

namespace calque::test {
namespace {

TEST(EigenFunctions, NormalizedIsEigensAndDefinedAtZero) {
  const auto f = [](auto v) { return normalized(v); };
  expect_as_numbers<3, 1>(f, sample(3, 1));
  expect_as_numbers<3, 1>(f, Eigen::MatrixXd::Zero(3, 1));
  const Eigen::Vector3d v = sample(3, 1);
  EXPECT_TRUE(normalized(v).isApprox(v.normalized()));
  const Array<double> rows = {{3, 4}, {0, 0}};
  const AnyArray got = result_of([](TD t) { return normalized(t); }, rows);
  EXPECT_TRUE(allclose(got.as<double>(), Array<double>{{0.6, 0.8}, {0, 0}}));
}

TEST(EigenFunctions, WhereSelectsElementsOrMatrices) {
  const Array<double> x = any_of(sample(3, 2)).as<double>();
  const Array<double> got = result_of(
                                [](TD t) {
                                  const TMatrix<3, 2> m = t;
                                  const TMatrix<3, 2> each = where(t > 0.5, m, -m),
                                                      one = where(t.at(0, 0) > 0, each, m * 0.0);
                                  return TD(one);
                                },
                                x)
                                .as<double>();
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 2; ++j) EXPECT_EQ(got(i, j), x(i, j) > 0.5 ? x(i, j) : -x(i, j));
  }
  message_of<ShapeError>(
      [&] { result_of([](TD t) { return TD(where(t.at(0, 0) > 0, TMatrix<3, 2>(t), TMatrix<2>())); }, x); });
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
  const auto message = [](TD (*f)(const TMatrix<3>&)) {
    return message_of<ConcretizationError>(
        [&] { result_of([&](TD t) { return f(TMatrix<3>(t)); }, any_of(sample(3, 3))); });
  };
  EXPECT_NE(message([](const TMatrix<3>& m) { return TD(TVector<3>(m.col(0).normalized())); }).find("cq::normalized"),
            std::string::npos);
  const auto checked = [](const TMatrix<3>& m) {
    TMatrix<3> inverse;
    bool invertible = false;
    m.computeInverseWithCheck(inverse, invertible);
    return TD(inverse);
  };
  EXPECT_NE(message(checked).find("cq::linalg::inv(a)"), std::string::npos);
  const auto rotation = [](const TMatrix<3>& m) {
    Eigen::JacobiRotation<TD> r;
    r.makeGivens(m(0, 0), m(1, 0));
    return r.c();
  };
  EXPECT_NE(message(rotation).find("cq::host_call"), std::string::npos);
  const auto reflection = [](const TMatrix<3>& m) {
    TVector<2> essential;
    TD tau, beta;
    m.col(0).makeHouseholder(essential, tau, beta);
    return beta;
  };
  EXPECT_NE(message(reflection).find("cq::linalg::qr(a)"), std::string::npos);
  EXPECT_NE(message([](const TMatrix<3>& m) { return TD(m == m); }).find("cq::equal"), std::string::npos);
}

}  // namespace
}  // namespace calque::test
