#include <Eigen/Cholesky>

#include "branches/plain.h"

void solve_eigen(const double* a, const double* b, double* x) {
  using Matrix = Eigen::Matrix<double, 6, 6>;
  using Vector = Eigen::Matrix<double, 6, 1>;
  Eigen::Map<Vector> result(x);
  result = Eigen::Map<const Matrix>(a).ldlt().solve(Eigen::Map<const Vector>(b));
}
