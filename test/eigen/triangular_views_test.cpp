// Solutions with triangular views of matrices of tracers.
#include "eigen/numbers.h"
#include "eigen/traced_matrices.h"

namespace calque::test {
namespace {

using Eigen::Dynamic;
using Any = TMatrix<Dynamic>;

template <unsigned Mode, int N>
void expect_triangle(int n) {
  SCOPED_TRACE(n);
  using M = TMatrix<N>;
  const Eigen::MatrixXd a = sample(n, n), t = a.triangularView<Mode>(), b = sample(n, 1);
  const Eigen::MatrixXd transposed = a.transpose().triangularView<Mode>();
  const auto vector = [&](const M& m) {
    const TVector<N> v = b.cast<TD>();
    return TVector<N>(m.template triangularView<Mode>().solve(v));
  };
  expect_of<M>(vector, a, numbers::solution(t, b));
  expect_of<M>([](const M& m) { return M(m.transpose().template triangularView<Mode>().solve(m)); }, a,
               numbers::solution(transposed, a));
  expect_of<M>([](const M& m) { return M(m.template triangularView<Mode>().template solve<Eigen::OnTheRight>(m)); }, a,
               numbers::solution(t.transpose(), a.transpose()).transpose());
}

TEST(EigenTriangularViews, TriangularViews) {
  expect_triangle<Eigen::Lower, 3>(3);
  expect_triangle<Eigen::UnitUpper, 5>(5);
  for (const int n : {1, 4, 13}) {
    expect_triangle<Eigen::Upper, Dynamic>(n);
    expect_triangle<Eigen::UnitLower, Dynamic>(n);
  }
}

TEST(EigenTriangularViews, TriangularSolutionsAreOperands) {
  const Eigen::MatrixXd a = sample(4, 4), l = a.triangularView<Eigen::Lower>(), u = a.triangularView<Eigen::Upper>();
  const auto f = [](const Any& m) {
    const auto lower = m.triangularView<Eigen::Lower>();
    return Any(lower.solve(m) + m.triangularView<Eigen::Upper>().solve(m) - lower.solve<Eigen::OnTheRight>(m));
  };
  expect_of<Any>(
      f, a,
      numbers::solution(l, a) + numbers::solution(u, a) - numbers::solution(l.transpose(), a.transpose()).transpose());
}

TEST(EigenTriangularViews, TriangularViewsReadTheirTriangle) {
  const auto f = [](const Any& m) {
    Any l(3, 3);  // the elements above the diagonal have no value
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j <= i; ++j) l(i, j) = m(i, j);
    }
    Eigen::Matrix<TD, Dynamic, 1> x = m.col(1);
    l.triangularView<Eigen::Lower>().solveInPlace(x);
    return x;
  };
  const Eigen::MatrixXd a = sample(3, 3), t = a.triangularView<Eigen::Lower>();
  expect_of<Any>(f, a, numbers::solution(t, a.col(1)));
}

}  // namespace
}  // namespace calque::test
