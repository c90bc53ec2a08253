// The loops of rival_plain.cpp and rival_fast_math.cpp, which differ in the options of their compilation.
#pragma once

#include "complex/complex.h"

namespace {

void multiply_add(const Complex64* x, const Complex64* y, const Complex64* z, Complex64* __restrict result, size_t n) {
  for (size_t i = 0; i < n; ++i) result[i] = x[i] * y[i] + z[i];
}

void mandelbrot(const Complex64* c, int32_t* counts, size_t n) {
  for (size_t i = 0; i < n; ++i) {
    Complex64 z = 0;
    int32_t k = 0;
    while (k < kMandelbrotSteps && std::norm(z) <= 4) {
      z = z * z + c[i];
      ++k;
    }
    counts[i] = k;
  }
}

void spectral_sum(const Complex64* a, const float* w, size_t terms, const float* t, Complex64* sums, size_t n) {
  for (size_t i = 0; i < n; ++i) {
    Complex64 sum = 0;
    for (size_t k = 0; k < terms; ++k) sum += a[k] * std::exp(Complex64(0, w[k] * t[i]));
    sums[i] = sum;
  }
}

}  // namespace
