// std::complex at -O3.
#include "complex/loops.h"

void multiply_add_plain(const Complex64* x, const Complex64* y, const Complex64* z, Complex64* result, size_t n) {
  multiply_add(x, y, z, result, n);
}

void mandelbrot_plain(const Complex64* c, int32_t* counts, size_t n) { mandelbrot(c, counts, n); }

void spectral_sum_plain(const Complex64* a, const float* w, size_t terms, const float* t, Complex64* sums, size_t n) {
  spectral_sum(a, w, terms, t, sums, n);
}
