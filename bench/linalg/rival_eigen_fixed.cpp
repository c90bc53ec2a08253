#include <Eigen/LU>

#include "linalg/linalg.h"

namespace {

template <class T, int N>
using Fixed = Eigen::Matrix<T, N, N, Eigen::RowMajor>;

}  // namespace

template <class T>
Run<T> solve_eigen_fixed(int64_t count) {
  using Vector = Eigen::Matrix<T, 8, 1>;
  return [count](const T* a, const T* b, T* x, T*) {
    for (int64_t i = 0; i < count; ++i)
      Eigen::Map<Vector>(x + i * 8) = Eigen::PartialPivLU<Fixed<T, 8>>(Eigen::Map<const Fixed<T, 8>>(a + i * 64))
                                          .solve(Eigen::Map<const Vector>(b + i * 8));
  };
}

template <class T>
Run<T> inverse_eigen_fixed(int64_t count) {
  return [count](const T* a, const T*, T* x, T*) {
    for (int64_t i = 0; i < count; ++i)
      Eigen::Map<Fixed<T, 6>>(x + i * 36) = Eigen::Map<const Fixed<T, 6>>(a + i * 36).inverse();
  };
}

template Run<float> solve_eigen_fixed<float>(int64_t);
template Run<double> solve_eigen_fixed<double>(int64_t);
template Run<double> inverse_eigen_fixed<double>(int64_t);
