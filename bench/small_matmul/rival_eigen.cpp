#include <Eigen/Dense>

#include "small_matmul/small_matmul.h"

namespace {

template <int N>
Products fixed(int64_t count) {
  using Matrix = Eigen::Matrix<float, N, N, Eigen::RowMajor>;
  return [count](const float* a, const float* b, float* c) {
    constexpr int64_t size = N * N;
    for (int64_t i = 0; i < count; ++i)
      Eigen::Map<Matrix>(c + i * size).noalias() =
          Eigen::Map<const Matrix>(a + i * size) * Eigen::Map<const Matrix>(b + i * size);
  };
}

}  // namespace

Products products_eigen(int64_t count, int64_t n) {
  if (n == 4) return fixed<4>(count);
  if (n == 8) return fixed<8>(count);
  if (n == 16) return fixed<16>(count);
  using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  return [count, n](const float* a, const float* b, float* c) {
    for (int64_t i = 0; i < count; ++i, a += n * n, b += n * n, c += n * n)
      Eigen::Map<Matrix>(c, n, n).noalias() = Eigen::Map<const Matrix>(a, n, n) * Eigen::Map<const Matrix>(b, n, n);
  };
}
