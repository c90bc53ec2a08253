#include <Eigen/Cholesky>
#include <Eigen/LU>

#include "linalg/linalg.h"

namespace {

template <class T>
using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;

}  // namespace

template <class T>
Run<T> cholesky_eigen(int64_t n) {
  return [n](const T* a, const T*, T* l, T*) {
    Eigen::Map<Matrix<T>>(l, n, n) = Eigen::LLT<Matrix<T>>(Eigen::Map<const Matrix<T>>(a, n, n)).matrixL();
  };
}

template <class T>
Run<T> solve_eigen(int64_t n, int64_t sides) {
  return [n, sides](const T* a, const T* b, T* x, T*) {
    Eigen::Map<Matrix<T>>(x, n, sides) = Eigen::PartialPivLU<Matrix<T>>(Eigen::Map<const Matrix<T>>(a, n, n))
                                             .solve(Eigen::Map<const Matrix<T>>(b, n, sides));
  };
}

template Run<float> cholesky_eigen<float>(int64_t);
template Run<double> cholesky_eigen<double>(int64_t);
template Run<float> solve_eigen<float>(int64_t, int64_t);
template Run<double> solve_eigen<double>(int64_t, int64_t);
