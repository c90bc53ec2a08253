// Eigen::LLT of matrices of tracers: triangles, members, and matrices that have no factor.
#include "eigen/numbers.h"
#include "eigen/traced_matrices.h"

namespace calque::test {
namespace {

using Any = TMatrix<Eigen::Dynamic>;

TEST(EigenLlt, ReadsOneTriangle) {
  const Eigen::MatrixXd s = numbers::definite(3), l = numbers::cholesky(s), x = numbers::solution(s, s.col(1));
  Eigen::MatrixXd lower = s, upper = s;
  lower(0, 2) = upper(2, 0) = std::numeric_limits<double>::quiet_NaN();
  using M = TMatrix<3>;
  expect_of<M>([](const M& m) { return m.llt().matrixLLT(); }, lower, l);
  const auto of_upper = [](const M& m) {
    const Eigen::LLT<M, Eigen::Upper> llt(m);
    TMatrix<3, 7> all;
    all << M(llt.matrixL()), M(llt.matrixU()), llt.solve(m.col(1));
    return all;
  };
  Eigen::MatrixXd want(3, 7);
  want << l, l.transpose(), x;
  expect_of<M>(of_upper, upper, want);
  expect_of<M>([](const M& m) { return m.selfadjointView<Eigen::Upper>().llt().solve(m.col(1)); }, upper, x);
}

TEST(EigenLlt, IsUsedByStatements) {
  const Eigen::MatrixXd s = numbers::definite(3);
  using M = TMatrix<3>;
  const auto f = [](const M& m) {
    Eigen::LLT<M> llt(3);
    llt.compute(m * 2.0);
    if (llt.info() != Eigen::Success || llt.rows() != 3 || llt.cols() != 3) throw std::logic_error("no success");
    TVector<3> x = m.col(0);
    llt.solveInPlace(x);
    const TVector<3> y = llt.matrixL().solve(m.col(0));
    TMatrix<3, 5> all;
    all << x, llt.matrixU().solve(y), llt.reconstructedMatrix();
    return all;
  };
  const Eigen::MatrixXd x = Eigen::Vector3d(0.5, 0, 0);
  Eigen::MatrixXd want(3, 5);
  want << x, x, s * 2;
  expect_of<M>(f, s, want);
}

TEST(EigenLlt, OfIndefiniteMatricesIsNaN) {
  const AnyArray got =
      result_of([](TD t) { return TD(TVector<2>(TMatrix<2>(t).llt().solve(TVector<2>(TD(1.0), TD(2.0))))); },
                Array<double>{{1, 2}, {2, 1}}.any());
  EXPECT_FALSE(any(isfinite(got.as<double>())).item());
}

TEST(EigenLlt, OfOtherShapesThrows) {
  message_of<ShapeError>([] { result_of([](TD t) { return TD(Any(Any(t).llt().matrixL())); }, any_of(sample(3, 2))); });
  message_of<ShapeError>([] { result_of([](TD t) { return TD(Any(Any(t).llt().matrixL())); }, any_of(sample(2, 3))); });
}

TEST(EigenLlt, OfComplexMatrices) {
  using C = std::complex<double>;
  const Array<C> a = {{C(4), C(1, 2)}, {C(1, -2), C(5)}}, b = {C(1), C(0, 1)};
  const auto f = [](const Tracer<C>& t) {
    const Matrix<C, 2, 2> m(t);
    Matrix<C, 2, 2> lower = m;
    lower(0, 1) = Tracer<C>(C(7));
    const Vector<C, 2> v = m.col(1);
    return Tracer<C>(Vector<C, 2>(lower.llt().solve(v) + Eigen::LLT<Matrix<C, 2, 2>, Eigen::Upper>(m).solve(v) +
                                  lower.ldlt().solve(v)));
  };
  EXPECT_TRUE(allclose(evaluated_as<C>(f, a), Array<C>{C(0), C(3)}));
}

}  // namespace
}  // namespace calque::test
