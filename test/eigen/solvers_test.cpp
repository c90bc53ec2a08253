// Eigen's LDLT, PartialPivLU and HouseholderQR of matrices of tracers, against those of numbers.
#include "eigen/numbers.h"
#include "eigen/traced_matrices.h"

namespace calque::test {
namespace {

using Eigen::Dynamic;
using Any = TMatrix<Dynamic>;

TEST(EigenSolvers, LdltSolvesWithOneTriangle) {
  Eigen::MatrixXd a = sample(5, 5) + 3 * Eigen::MatrixXd::Identity(5, 5);
  a(4, 4) = -5;  // not definite, and not symmetric
  const Eigen::MatrixXd b = sample(5, 2);
  expect_of<TMatrix<5>>([&](const TMatrix<5>& m) { return m.ldlt().solve(b); }, a,
                        numbers::solution(numbers::mirrored(a, true), b));
  const auto upper = [&](const Any& m) {
    const Eigen::LDLT<Any, Eigen::Upper> ldlt(m);
    Any x = b.cast<TD>();
    ldlt.solveInPlace(x);
    return x;
  };
  expect_of<Any>(upper, a, numbers::solution(numbers::mirrored(a, false), b));
}

template <class M>
void expect_partial_lu(int n) {
  SCOPED_TRACE(n);
  const Eigen::MatrixXd a = sample(n, n), b = sample(n, 2);
  expect_of<M>([&](const M& m) { return m.partialPivLu().solve(b); }, a, numbers::solution(a, b));
  expect_of<M>([&](const M& m) { return m.lu().inverse(); }, a, numbers::inverse(a));
  expect_of<M>([&](const M& m) { return m.lu().matrixLU(); }, a, numbers::packed_lu(a));
  expect_of<M>([&](const M& m) { return m.lu().determinant(); }, a, one_number(numbers::determinant(a)));
}

TEST(EigenSolvers, PartialPivLu) {
  expect_partial_lu<TMatrix<3>>(3);
  for (const int n : {1, 5, 13}) expect_partial_lu<Any>(n);
}

template <class M>
void expect_least_squares(int rows, int columns) {
  const Eigen::MatrixXd a = sample(rows, columns), b = sample(rows, 2);
  expect_of<M>([&](const M& m) { return m.householderQr().solve(b); }, a, numbers::least_squares(a, b));
}

TEST(EigenSolvers, HouseholderQrIsLeastSquares) {
  expect_least_squares<TMatrix<4>>(4, 4);
  expect_least_squares<TMatrix<5, 3>>(5, 3);
  expect_least_squares<Any>(6, 2);
  // With fewer equations than unknowns the last unknowns are 0.
  expect_least_squares<TMatrix<2, 4>>(2, 4);
  expect_least_squares<Any>(2, 4);
}

}  // namespace
}  // namespace calque::test
