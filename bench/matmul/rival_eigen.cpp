#include <Eigen/Dense>

#include "matmul/matmul.h"

template <class T>
Product<T> matmul_eigen(int64_t n) {
  using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  return [n](const T* a, const T* b, T* c) {
    Eigen::Map<Matrix>(c, n, n).noalias() = Eigen::Map<const Matrix>(a, n, n) * Eigen::Map<const Matrix>(b, n, n);
  };
}

template Product<float> matmul_eigen(int64_t n);
template Product<double> matmul_eigen(int64_t n);
