#include <Eigen/QR>

#include "eigen/numbers.h"

namespace calque::test::numbers {

Eigen::MatrixXd least_squares(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b) { return a.householderQr().solve(b); }

}  // namespace calque::test::numbers
