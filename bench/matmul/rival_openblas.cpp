#include <cblas.h>

#include "matmul/matmul.h"

template <>
Product<float> matmul_openblas(int64_t size) {
  return [n = blasint(size)](const float* a, const float* b, float* c) {
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, n, n, 1, a, n, b, n, 0, c, n);
  };
}

template <>
Product<double> matmul_openblas(int64_t size) {
  return [n = blasint(size)](const double* a, const double* b, double* c) {
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, n, n, 1, a, n, b, n, 0, c, n);
  };
}

std::string openblas_version() {
  return std::string(openblas_get_config()) + ", kernels of " + openblas_get_corename();
}
