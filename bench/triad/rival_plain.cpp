// The straightforward loop, vectorized by the compiler.
#include "triad/triad.h"

void triad_plain(float a, const float* x, const float* y, float* __restrict result, size_t n) {
  for (size_t i = 0; i < n; ++i) result[i] = a * x[i] + y[i];
}
