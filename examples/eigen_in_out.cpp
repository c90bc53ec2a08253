// Eigen objects as arguments and results. Matrices, vectors, maps and blocks are read in place, column-major or
// strided; an array converts to any dense Eigen type of its rank.
#include <cstdlib>
#include <iostream>
#include <tuple>

#include <calque/calque.h>
#include <calque/eigen.h>

namespace cq = calque;

int main() {
  // Ridge regression by gradient descent: data and weights are Eigen objects.
  const Eigen::Index samples = 200, features = 5;
  std::srand(1);
  const Eigen::MatrixXd data = Eigen::MatrixXd::Random(samples, features + 1);
  Eigen::VectorXd truth(features);
  truth << 1.0, -2.0, 0.5, 0.0, 3.0;
  const auto x = data.leftCols(features);  // a block, not a copy
  const Eigen::VectorXd y = x * truth + 0.01 * data.col(features);

  auto step = cq::jit([](auto a, auto b, auto w, auto ridge) {
    auto gradient = matmul(a.T(), matmul(a, w) - b) / a.shape()[0] + ridge * w;
    return w - 0.5 * gradient;
  });
  Eigen::VectorXd w = Eigen::VectorXd::Zero(features);
  for (int i = 0; i < 500; ++i) w = step(x, y, w, 1e-3);

  const Eigen::MatrixXd normal =
      x.transpose() * x / double(samples) + 1e-3 * Eigen::MatrixXd::Identity(features, features);
  const Eigen::VectorXd exact = normal.ldlt().solve(Eigen::VectorXd(x.transpose() * y / double(samples)));
  std::cout << "descent: " << w.transpose() << "\nexact:   " << exact.transpose() << '\n';

  // Several results at once; the size of a fixed-size one is checked.
  auto statistics = cq::jit([](auto a) { return std::tuple{mean(a, {0}), stddev(a, {0}), amax(abs(a))}; });
  auto [center, deviation, largest] = statistics(x);
  const Eigen::Matrix<double, 5, 1> mean = center;
  const double most = largest;
  std::cout << "mean:    " << mean.transpose() << "\nlargest: " << most << '\n';

  const bool right = (w - exact).norm() < 1e-9 && (mean.transpose() - x.colwise().mean()).norm() < 1e-12 &&
                     most == x.cwiseAbs().maxCoeff() && cq::all(deviation > 0.0).item();
  return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
