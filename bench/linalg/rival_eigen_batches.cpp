// Cholesky factors of many matrices by Eigen: a file of its own, since sizes that the compiler knows take it long.
#include <type_traits>

#include <Eigen/Dense>

#include "linalg/linalg.h"

namespace {

template <class T, int N>
using Fixed = Eigen::Matrix<T, N, N, Eigen::RowMajor>;

}  // namespace

template <class T>
Run<T> cholesky_eigen_fixed(int64_t count, int64_t n) {
  const auto of_size = [count]<int kRows>(std::integral_constant<int, kRows>) -> Run<T> {
    return [count](const T* a, const T*, T* l, T*) {
      using Matrix = Fixed<T, kRows>;
      constexpr int64_t kElements = kRows * kRows;
      for (int64_t i = 0; i < count; ++i)
        Eigen::Map<Matrix>(l + i * kElements) =
            Eigen::LLT<Matrix>(Eigen::Map<const Matrix>(a + i * kElements)).matrixL();
    };
  };
  if (n == 8) return of_size(std::integral_constant<int, 8>());
  if (n == 16) return of_size(std::integral_constant<int, 16>());
  // The compiler takes half a minute for fixed sizes of 32.
  return [count, n](const T* a, const T*, T* l, T*) {
    using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    for (int64_t i = 0; i < count; ++i)
      Eigen::Map<Matrix>(l + i * n * n, n, n) =
          Eigen::LLT<Matrix>(Eigen::Map<const Matrix>(a + i * n * n, n, n)).matrixL();
  };
}

template Run<float> cholesky_eigen_fixed<float>(int64_t, int64_t);
template Run<double> cholesky_eigen_fixed<double>(int64_t, int64_t);
