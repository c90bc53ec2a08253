// The loop that one writes; the compiler vectorises it.
#include "triad/triad.h"

void triad_plain(float a, const float* x, const float* y, float* __restrict result, size_t n) {
  for (size_t i = 0; i < n; ++i) result[i] = a * x[i] + y[i];
}
