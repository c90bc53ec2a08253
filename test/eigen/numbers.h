#pragma once
// Eigen's decompositions of numbers, compiled once: what functions of matrices of tracers are compared with.
#include <Eigen/Core>

namespace calque::test::numbers {

Eigen::MatrixXd product(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b);
/// a^-1 b, by LU with partial pivoting.
Eigen::MatrixXd solution(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b);
Eigen::MatrixXd inverse(const Eigen::MatrixXd& a);
Eigen::MatrixXd packed_lu(const Eigen::MatrixXd& a);
double determinant(const Eigen::MatrixXd& a);
/// The factor of the self-adjoint matrix with the lower triangle of a.
Eigen::MatrixXd cholesky(const Eigen::MatrixXd& a);
/// The x for which |a x - b| is least, of a with more rows than columns, or with 0 in the last rows.
Eigen::MatrixXd least_squares(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b);

/// A positive definite matrix.
Eigen::MatrixXd definite(int n);
/// The matrix with the lower, or the upper, triangle of a on both sides of the diagonal.
Eigen::MatrixXd mirrored(Eigen::MatrixXd a, bool lower);

}  // namespace calque::test::numbers
