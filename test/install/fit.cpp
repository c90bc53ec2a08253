// A program with the component `ceres` of the installed package. Its exit status tells whether the results were
// correct.
#include <cmath>
#include <cstdlib>
#include <iostream>

#include <calque/ceres.h>

namespace cq = calque;

template <class S>
struct Point {
  S x, y;
  template <class T>
  bool operator()(const T* slope, T* residual) const {
    residual[0] = slope[0] * x - y;
    return true;
  }
};

int main() {
  const cq::Array<double> x = {1, 2, 3}, y = {2, 4, 6};
  double slope = 0;
  cq::ceres::Problem problem;
  problem.add(cq::functor<1>(), Point<cq::Array<double>>{x, y}, {slope});
  const auto summary = problem.solve({});
  std::cout << summary.BriefReport() << '\n';
  return std::abs(slope - 2) < 1e-6 ? EXIT_SUCCESS : EXIT_FAILURE;
}
