// The functions of linalg.h for Eigen matrices of tracers: against Eigen in numbers.
#include "eigen/numbers.h"
#include "eigen/traced_matrices.h"

namespace calque::test {
namespace {

namespace la = linalg;
using Dynamic = Eigen::MatrixXd;
using RowMajor = Eigen::Matrix<TD, 3, 3, Eigen::RowMajor>;

template <class M>
void expect_functions_of_squares(int n) {
  SCOPED_TRACE(n);
  const Dynamic a = sample(n, n), s = numbers::definite(n), b = sample(n, 2);
  const double determinant = numbers::determinant(a);
  expect_of<M>([](const M& m) { return la::inv(m); }, a, numbers::inverse(a));
  expect_of<M>([](const M& m) { return la::matrix_power(m, 3); }, a, numbers::product(a, numbers::product(a, a)));
  expect_of<M>([](const M& m) { return la::cho_factor(m); }, s, numbers::cholesky(s));
  expect_of<M>([](const M& m) { return la::det(m); }, a, one_number(determinant));
  expect_of<M>([](const M& m) { return std::get<0>(la::slogdet(m)) * exp(std::get<1>(la::slogdet(m))); }, a,
               one_number(determinant));
  expect_of<M>([&](const M& m) { return la::solve(m, b); }, a, numbers::solution(a, b));
}

TEST(EigenLinalg, FunctionsOfSquareMatrices) {
  expect_functions_of_squares<TMatrix<3>>(3);
  expect_functions_of_squares<RowMajor>(3);
  for (const int n : {1, 2, 5, 8, 14}) expect_functions_of_squares<TMatrix<Eigen::Dynamic>>(n);
}

TEST(EigenLinalg, Exponentials) {
  Dynamic a = Dynamic::Zero(3, 3), want = Dynamic::Identity(3, 3);
  a(0, 1) = 2, a(1, 2) = 3, a(0, 2) = 5;  // a a a = 0
  want(0, 1) = 2, want(1, 2) = 3, want(0, 2) = 8;
  expect_of<TMatrix<3>>([](const TMatrix<3>& m) { return la::expm(m); }, a, want);
}

TEST(EigenLinalg, MatricesOfOneElement) {
  const auto f = [](TD x) {
    TMatrix<1> m;
    m << x.at(0, 0);
    Eigen::Matrix<TD, 1, 2> row;
    row << x.at(0, 0), 3.0;
    TVector<6> all;
    all << la::inv(m)(0), la::det(m), la::cholesky(m)(0), la::solve(m, m)(0), la::solve(m, row).transpose();
    return TD(all);
  };
  Dynamic want(6, 1);
  want << 0.25, 4, 2, 1, 1, 0.75;
  expect_result(f, one_number(4), want);
}

TEST(EigenLinalg, SolveGivesTheTypeOfTheRightSide) {
  const Dynamic a = sample(3, 3), v = sample(3, 1);
  const Dynamic x = numbers::solution(a, v);
  expect_of<TMatrix<3>>(
      [&](const TMatrix<3>& m) {
        const Eigen::Vector3d numbers = v;
        const TVector<3> traced = v.cast<TD>();
        const TD array = TD(traced);
        static_assert(std::same_as<decltype(la::solve(m, traced)), TVector<3>>);
        static_assert(std::same_as<decltype(la::solve(m, numbers)), TVector<3>>);
        static_assert(std::same_as<decltype(la::solve(m, traced.transpose())), TMatrix<1, 3>>);
        static_assert(std::same_as<decltype(la::solve(m, array)), TD>);
        static_assert(std::same_as<decltype(la::solve(TD(m), traced)), TVector<3>>);
        static_assert(std::same_as<decltype(la::solve(a, traced)), TVector<3>>);
        TMatrix<3, 6> all;
        all << la::solve(m, traced), la::solve(m, numbers), la::solve(m, traced.transpose()).transpose(),
            TVector<3>(la::solve(m, array)), la::solve(TD(m), traced), la::solve(a, traced);
        return all;
      },
      a, x.replicate(1, 6));
}

TEST(EigenLinalg, ExpressionsAreOperands) {
  const Dynamic a = sample(3, 4);
  const Dynamic square = a.leftCols(3);
  expect_of<TMatrix<3, 4>>([](const TMatrix<3, 4>& m) { return la::solve(m.leftCols(3).transpose(), m.col(3) * 2.0); },
                           a, numbers::solution(square.transpose(), a.col(3) * 2));
  expect_of<TMatrix<3, 4>>([](const TMatrix<3, 4>& m) { return la::inv(m.block<2, 2>(0, 1)); }, a,
                           numbers::inverse(a.block(0, 1, 2, 2)));
  expect_of<TMatrix<3, 4>>([](const TMatrix<3, 4>& m) { return la::det(m * m.transpose()); }, a,
                           one_number(numbers::determinant(numbers::product(a, a.transpose()))));
}

TEST(EigenLinalg, TrianglesMixWithNumbers) {
  const Dynamic a = sample(3, 3), v = sample(3, 1);
  const Dynamic x = numbers::solution(a.triangularView<Eigen::Upper>(), v);
  expect_of<TMatrix<3>>(
      [&](const TMatrix<3>& m) {
        const la::TriangularOptions upper{.lower = false};
        TMatrix<3, 3> all;
        all << la::triangular_solve(m, Eigen::Vector3d(v), upper),
            la::solve_triangular(a, TVector<3>(v.cast<TD>()), upper),
            TVector<3>(la::triangular_solve(m, TD(TVector<3>(v.cast<TD>())), upper));
        return all;
      },
      a, x.replicate(1, 3));
  const Dynamic s = numbers::definite(3);
  expect_of<TMatrix<3>>([&](const TMatrix<3>& m) { return la::cho_solve(la::cholesky(m), Eigen::Vector3d(v)); }, s,
                        numbers::solution(s, v));
}

TEST(EigenLinalg, ElementTypesArePromoted) {
  const auto f = [](const Tracer<float>& t) {
    const Matrix<float, 2, 2> m(t);
    const Eigen::Vector2d v(1, 2);
    const auto x = la::solve(m, v);
    static_assert(std::same_as<std::remove_cvref_t<decltype(x)>, TVector<2>>);
    const auto y = la::solve(m, Eigen::Vector2i(1, 2));
    static_assert(std::same_as<std::remove_cvref_t<decltype(y)>, Vector<float, 2>>);
    return TD(x) + Tracer<float>(y);
  };
  const auto got = evaluated_as<double>(f, Array<float>{{2, 0}, {0, 4}});
  EXPECT_TRUE(allclose(got, Array<double>{1, 1}));
}

TEST(EigenLinalg, ShapesThatDoNotFitThrow) {
  const auto message = [](TD (*f)(const TMatrix<Eigen::Dynamic>&)) {
    return message_of<ShapeError>(
        [&] { result_of([&](TD t) { return f(TMatrix<Eigen::Dynamic>(t)); }, any_of(sample(3, 2))); });
  };
  using M = const TMatrix<Eigen::Dynamic>&;
  EXPECT_TRUE(message([](M m) { return TD(la::inv(m)); }).starts_with("linalg::inv")) << "inv";
  EXPECT_TRUE(message([](M m) { return la::det(m); }).starts_with("linalg::det"));
  EXPECT_TRUE(message([](M m) { return TD(la::solve(m, m)); }).starts_with("linalg::solve"));
  EXPECT_TRUE(message([](M m) { return TD(la::solve(m.topRows(2), m)); }).starts_with("linalg::solve"));
  EXPECT_TRUE(message([](M m) { return TD(la::matrix_power(m, 2)); }).starts_with("linalg::matrix_power"));
  EXPECT_TRUE(message([](M m) { return TD(std::get<0>(la::lstsq(m, m.topRows(2)))); }).starts_with("linalg::lstsq"));
}

}  // namespace
}  // namespace calque::test
