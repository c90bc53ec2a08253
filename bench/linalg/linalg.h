// Case: linear algebra, batches of small matrices and single large ones, row-major.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

/// One call: operands a and b (of those that have one), results x and y (of those that have two). Large rivals take
/// and give matrices in their own layout, which is column-major; the copies of operands that they need are timed.
template <class T>
using Run = std::function<void(const T* a, const T* b, T* x, T* y)>;

// Of `count` matrices of 8 rows, of 6 for the inverse, of 8, 16 or 32 for the Cholesky factor. Solves have one
// right-hand side.
template <class T>
Run<T> solve_plain(int64_t count);
template <class T>
Run<T> cholesky_plain(int64_t count, int64_t n);
template <class T>
Run<T> inverse_plain(int64_t count);
template <class T>
Run<T> solve_eigen_fixed(int64_t count);
template <class T>
Run<T> cholesky_eigen_fixed(int64_t count, int64_t n);
template <class T>
Run<T> inverse_eigen_fixed(int64_t count);

// Of one matrix of n rows. The right-hand sides of solves are n x sides.
template <class T>
Run<T> cholesky_eigen(int64_t n);
template <class T>
Run<T> solve_eigen(int64_t n, int64_t sides);
template <class T>
Run<T> qr_eigen(int64_t n);
template <class T>
Run<T> cholesky_openblas(int64_t n);
template <class T>
Run<T> solve_openblas(int64_t n, int64_t sides);
template <class T>
Run<T> qr_openblas(int64_t n);
std::string openblas_version();
