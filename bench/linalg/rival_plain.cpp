// Loops over one matrix at a time, whose extents the compiler knows.
#include <cmath>
#include <cstring>
#include <utility>

#include "linalg/linalg.h"

namespace {

/// Gaussian elimination with partial pivoting of [a | b], then substitution from the last row up.
template <class T, int N, int M>
void solve(const T* a, const T* b, T* x) {
  T m[N][N + M];
  for (int i = 0; i < N; ++i) {
    for (int j = 0; j < N; ++j) m[i][j] = a[i * N + j];
    for (int j = 0; j < M; ++j) m[i][N + j] = b[i * M + j];
  }
  for (int k = 0; k < N; ++k) {
    int pivot = k;
    for (int i = k + 1; i < N; ++i)
      if (std::fabs(m[i][k]) > std::fabs(m[pivot][k])) pivot = i;
    if (pivot != k)
      for (int j = 0; j < N + M; ++j) std::swap(m[k][j], m[pivot][j]);
    const T inverse = 1 / m[k][k];
    for (int i = k + 1; i < N; ++i) {
      const T factor = m[i][k] * inverse;
      for (int j = 0; j < N + M; ++j) m[i][j] -= factor * m[k][j];
    }
  }
  for (int i = N - 1; i >= 0; --i) {
    T row[M];
    for (int j = 0; j < M; ++j) row[j] = m[i][N + j];
    for (int k = i + 1; k < N; ++k)
      for (int j = 0; j < M; ++j) row[j] -= m[i][k] * x[k * M + j];
    for (int j = 0; j < M; ++j) x[i * M + j] = row[j] / m[i][i];
  }
}

template <class T, int N>
void cholesky(const T* a, T* l) {
  T m[N][N] = {};
  for (int j = 0; j < N; ++j) {
    T diagonal = a[j * N + j];
    for (int k = 0; k < j; ++k) diagonal -= m[j][k] * m[j][k];
    m[j][j] = std::sqrt(diagonal);
    const T inverse = 1 / m[j][j];
    for (int i = j + 1; i < N; ++i) {
      T sum = a[i * N + j];
      for (int k = 0; k < j; ++k) sum -= m[i][k] * m[j][k];
      m[i][j] = sum * inverse;
    }
  }
  std::memcpy(l, m, sizeof m);
}

}  // namespace

template <class T>
Run<T> solve_plain(int64_t count) {
  return [count](const T* a, const T* b, T* x, T*) {
    for (int64_t i = 0; i < count; ++i) solve<T, 8, 1>(a + i * 64, b + i * 8, x + i * 8);
  };
}

template <class T>
Run<T> cholesky_plain(int64_t count, int64_t n) {
  const auto of_size = [count]<int kRows>(std::integral_constant<int, kRows>) -> Run<T> {
    return [count](const T* a, const T*, T* l, T*) {
      for (int64_t i = 0; i < count; ++i) cholesky<T, kRows>(a + i * kRows * kRows, l + i * kRows * kRows);
    };
  };
  if (n == 8) return of_size(std::integral_constant<int, 8>());
  return n == 16 ? of_size(std::integral_constant<int, 16>()) : of_size(std::integral_constant<int, 32>());
}

template <class T>
Run<T> inverse_plain(int64_t count) {
  return [count](const T* a, const T*, T* x, T*) {
    T identity[36] = {};
    for (int i = 0; i < 6; ++i) identity[7 * i] = 1;
    for (int64_t i = 0; i < count; ++i) solve<T, 6, 6>(a + i * 36, identity, x + i * 36);
  };
}

template Run<float> solve_plain<float>(int64_t);
template Run<double> solve_plain<double>(int64_t);
template Run<float> cholesky_plain<float>(int64_t, int64_t);
template Run<double> cholesky_plain<double>(int64_t, int64_t);
template Run<double> inverse_plain<double>(int64_t);
