// Inverses, determinants and Cholesky factors of matrices of tracers by Eigen's own members, against those of numbers.
#include "eigen/numbers.h"
#include "eigen/traced_matrices.h"

namespace calque::test {
namespace {

using Eigen::Dynamic;
using Any = TMatrix<Dynamic>;

template <class M>
void expect_inverse_and_determinant(int n) {
  SCOPED_TRACE(n);
  const Eigen::MatrixXd a = sample(n, n);
  expect_of<M>([](const M& m) { return M(m.inverse()); }, a, numbers::inverse(a));
  expect_of<M>([](const M& m) { return m.determinant(); }, a, one_number(numbers::determinant(a)));
}

TEST(EigenDecompositions, InverseAndDeterminantOfEverySize) {
  expect_inverse_and_determinant<TMatrix<2>>(2);
  expect_inverse_and_determinant<TMatrix<3>>(3);
  expect_inverse_and_determinant<TMatrix<4>>(4);
  expect_inverse_and_determinant<TMatrix<5>>(5);
  for (const int n : {1, 2, 4, 8, 13}) expect_inverse_and_determinant<Any>(n);
}

TEST(EigenDecompositions, InversesAreOperands) {
  const Eigen::MatrixXd a = sample(5, 5);
  expect_of<Any>([](const Any& m) { return Any(m.transpose().inverse() * m.col(0)); }, a,
                 numbers::solution(a.transpose(), a.col(0)));
  expect_of<TMatrix<5>>([](const TMatrix<5>& m) { return TMatrix<5>(m.inverse() + m); }, a, numbers::inverse(a) + a);
}

template <class M>
void expect_cholesky(int n) {
  SCOPED_TRACE(n);
  const Eigen::MatrixXd s = numbers::definite(n), b = sample(n, 2);
  expect_of<M>([&](const M& m) { return m.llt().solve(b); }, s, numbers::solution(s, b));
  expect_of<M>([&](const M& m) { return M(m.llt().matrixL()); }, s, numbers::cholesky(s));
}

TEST(EigenDecompositions, LltFactorsAndSolves) {
  expect_cholesky<TMatrix<3>>(3);
  expect_cholesky<Eigen::Matrix<TD, 3, 3, Eigen::RowMajor>>(3);
  for (const int n : {1, 8, 14}) expect_cholesky<Any>(n);
}

}  // namespace
}  // namespace calque::test
