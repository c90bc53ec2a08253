#include <Eigen/Cholesky>
#include <Eigen/LU>
#include <Eigen/QR>

#include "linalg/linalg.h"

namespace {

template <class T, int N>
using Fixed = Eigen::Matrix<T, N, N, Eigen::RowMajor>;
template <class T>
using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;

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

template <class T>
Run<T> qr_eigen(int64_t n) {
  return [n](const T* a, const T*, T* q, T* r) {
    const Eigen::HouseholderQR<Matrix<T>> factors(Eigen::Map<const Matrix<T>>(a, n, n));
    Eigen::Map<Matrix<T>>(q, n, n) = factors.householderQ();
    Eigen::Map<Matrix<T>>(r, n, n) = factors.matrixQR().template triangularView<Eigen::Upper>();
  };
}

template Run<float> solve_eigen_fixed<float>(int64_t);
template Run<double> solve_eigen_fixed<double>(int64_t);
template Run<double> inverse_eigen_fixed<double>(int64_t);
template Run<float> cholesky_eigen<float>(int64_t);
template Run<double> cholesky_eigen<double>(int64_t);
template Run<float> solve_eigen<float>(int64_t, int64_t);
template Run<double> solve_eigen<double>(int64_t, int64_t);
template Run<float> qr_eigen<float>(int64_t);
template Run<double> qr_eigen<double>(int64_t);
