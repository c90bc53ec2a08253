// Complex numbers: x y + z of arrays, products of matrices, the Mandelbrot set, and exponentials. Complex arrays are
// interleaved; "planar" rivals keep real and imaginary parts in arrays of their own.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

using Complex64 = std::complex<float>;
using Complex128 = std::complex<double>;

/// result = x y + z of n numbers; of planar arrays the real parts are followed by the imaginary ones.
using MultiplyAdd = void (*)(const Complex64* x, const Complex64* y, const Complex64* z, Complex64* result, size_t n);
void multiply_add_plain(const Complex64* x, const Complex64* y, const Complex64* z, Complex64* result, size_t n);
void multiply_add_fast_math(const Complex64* x, const Complex64* y, const Complex64* z, Complex64* result, size_t n);
void multiply_add_planar(const float* x, const float* y, const float* z, float* result, size_t n);

/// c = a b of row-major n x n matrices.
template <class T>
using ComplexProduct = std::function<void(const T* a, const T* b, T* c)>;
template <class T>
ComplexProduct<T> complex_product_openblas(int64_t n);

/// The number of steps z <- z^2 + c from 0 while |z|^2 <= 4, at most kMandelbrotSteps.
constexpr int32_t kMandelbrotSteps = 256;
void mandelbrot_plain(const Complex64* c, int32_t* counts, size_t n);
void mandelbrot_fast_math(const Complex64* c, int32_t* counts, size_t n);

/// sum_k a_k e^(i w_k t) for each of n times t: a spectral sum.
void spectral_sum_plain(const Complex64* a, const float* w, size_t terms, const float* t, Complex64* sums, size_t n);
void spectral_sum_fast_math(const Complex64* a, const float* w, size_t terms, const float* t, Complex64* sums,
                            size_t n);
