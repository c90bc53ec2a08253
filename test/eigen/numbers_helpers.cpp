#include <cmath>

#include <Eigen/Cholesky>
#include <Eigen/LU>

#include "eigen/numbers.h"

namespace calque::test::numbers {

using M = Eigen::MatrixXd;

M product(const M& a, const M& b) { return a.lazyProduct(b); }
M solution(const M& a, const M& b) { return a.partialPivLu().solve(b); }
M inverse(const M& a) { return solution(a, M::Identity(a.rows(), a.cols())); }
M packed_lu(const M& a) { return a.partialPivLu().matrixLU(); }
double determinant(const M& a) { return a.partialPivLu().determinant(); }
M cholesky(const M& a) { return a.llt().matrixL(); }

M definite(int n) {
  M a(n, n);
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) a(i, j) = std::sin(1.0 + 3 * i + 5 * j) + (i == j ? 2 : 0);
  }
  return product(a, a.transpose()) + M::Identity(n, n);
}
M mirrored(M a, bool lower) {
  for (Eigen::Index i = 0; i < a.rows(); ++i) {
    for (Eigen::Index j = 0; j < i; ++j) (lower ? a(j, i) : a(i, j)) = lower ? a(i, j) : a(j, i);
  }
  return a;
}

}  // namespace calque::test::numbers
