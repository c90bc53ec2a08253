#include <algorithm>
#include <cmath>

#include "mlp/mlp.h"

namespace {

using T = double;

void product(bool ta, bool tb, int64_t m, int64_t n, int64_t k, const T* a, const T* b, T* c) {
  std::fill_n(c, m * n, 0.0);
  for (int64_t i = 0; i < m; ++i)
    for (int64_t l = 0; l < k; ++l)
      for (int64_t j = 0; j < n; ++j) c[i * n + j] += a[ta ? l * m + i : i * k + l] * b[tb ? j * k + l : l * n + j];
}

}  // namespace

void step_reference(const double* old_parameters, const float* images, const int32_t* labels, double* moved) {
#include "mlp/step.inc"
}
