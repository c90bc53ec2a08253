#include <cblas.h>

#include "complex/complex.h"

template <>
ComplexProduct<Complex64> complex_product_openblas(int64_t size) {
  return [n = blasint(size)](const Complex64* a, const Complex64* b, Complex64* c) {
    const Complex64 one = 1, zero = 0;
    cblas_cgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, n, n, &one, a, n, b, n, &zero, c, n);
  };
}

template <>
ComplexProduct<Complex128> complex_product_openblas(int64_t size) {
  return [n = blasint(size)](const Complex128* a, const Complex128* b, Complex128* c) {
    const Complex128 one = 1, zero = 0;
    cblas_zgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, n, n, &one, a, n, b, n, &zero, c, n);
  };
}
