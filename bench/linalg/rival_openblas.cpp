// The LAPACK inside OpenBLAS, as NumPy and SciPy call it.
#include <algorithm>
#include <cstring>
#include <type_traits>
#include <vector>

#include <cblas.h>

#include "linalg/linalg.h"

extern "C" {
void spotrf_(const char*, const int*, float*, const int*, int*);
void dpotrf_(const char*, const int*, double*, const int*, int*);
void sgesv_(const int*, const int*, float*, const int*, int*, float*, const int*, int*);
void dgesv_(const int*, const int*, double*, const int*, int*, double*, const int*, int*);
void sgeqrf_(const int*, const int*, float*, const int*, float*, float*, const int*, int*);
void dgeqrf_(const int*, const int*, double*, const int*, double*, double*, const int*, int*);
void sorgqr_(const int*, const int*, const int*, float*, const int*, const float*, float*, const int*, int*);
void dorgqr_(const int*, const int*, const int*, double*, const int*, const double*, double*, const int*, int*);
}

template <class T>
Run<T> cholesky_openblas(int64_t size) {
  return [n = int(size)](const T* a, const T*, T* l, T*) {
    int info = 0;
    std::memcpy(l, a, size_t(n) * size_t(n) * sizeof(T));
    if constexpr (std::is_same_v<T, float>)
      spotrf_("L", &n, l, &n, &info);
    else
      dpotrf_("L", &n, l, &n, &info);
    for (int j = 1; j < n; ++j) std::fill_n(l + size_t(j) * size_t(n), j, T(0));
  };
}

template <class T>
Run<T> solve_openblas(int64_t size, int64_t sides) {
  return [n = int(size), m = int(sides), factors = std::vector<T>(size_t(size * size)),
          pivots = std::vector<int>(size_t(size))](const T* a, const T* b, T* x, T*) mutable {
    int info = 0;
    std::memcpy(factors.data(), a, factors.size() * sizeof(T));
    std::memcpy(x, b, size_t(n) * size_t(m) * sizeof(T));
    if constexpr (std::is_same_v<T, float>)
      sgesv_(&n, &m, factors.data(), &n, pivots.data(), x, &n, &info);
    else
      dgesv_(&n, &m, factors.data(), &n, pivots.data(), x, &n, &info);
  };
}

template <class T>
Run<T> qr_openblas(int64_t size) {
  return [n = int(size), tau = std::vector<T>(size_t(size)), space = std::vector<T>(size_t(size * 64))](
             const T* a, const T*, T* q, T* r) mutable {
    int info = 0;
    const int room = int(space.size());
    std::memcpy(q, a, size_t(n) * size_t(n) * sizeof(T));
    if constexpr (std::is_same_v<T, float>)
      sgeqrf_(&n, &n, q, &n, tau.data(), space.data(), &room, &info);
    else
      dgeqrf_(&n, &n, q, &n, tau.data(), space.data(), &room, &info);
    for (int j = 0; j < n; ++j) {
      const size_t column = size_t(j) * size_t(n);
      std::copy_n(q + column, j + 1, r + column);
      std::fill_n(r + column + size_t(j) + 1, n - j - 1, T(0));
    }
    if constexpr (std::is_same_v<T, float>)
      sorgqr_(&n, &n, &n, q, &n, tau.data(), space.data(), &room, &info);
    else
      dorgqr_(&n, &n, &n, q, &n, tau.data(), space.data(), &room, &info);
  };
}

std::string openblas_version() {
  return std::string(openblas_get_config()) + ", kernels of " + openblas_get_corename();
}

template Run<float> cholesky_openblas<float>(int64_t);
template Run<double> cholesky_openblas<double>(int64_t);
template Run<float> solve_openblas<float>(int64_t, int64_t);
template Run<double> solve_openblas<double>(int64_t, int64_t);
template Run<float> qr_openblas<float>(int64_t);
template Run<double> qr_openblas<double>(int64_t);
