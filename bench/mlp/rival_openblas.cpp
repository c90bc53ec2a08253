#include <algorithm>
#include <cmath>

#include <cblas.h>

#include "mlp/mlp.h"

namespace {

using T = float;

void product(bool ta, bool tb, int64_t m, int64_t n, int64_t k, const T* a, const T* b, T* c) {
  cblas_sgemm(CblasRowMajor, ta ? CblasTrans : CblasNoTrans, tb ? CblasTrans : CblasNoTrans, blasint(m), blasint(n),
              blasint(k), 1, a, blasint(ta ? m : k), b, blasint(tb ? k : n), 0, c, blasint(n));
}

}  // namespace

void step_openblas(const float* old_parameters, const float* images, const int32_t* labels, float* moved) {
#include "mlp/step.inc"
}
