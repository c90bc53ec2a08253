// The same loop; -ffast-math lets the compiler use several partial sums.
#include "sum/sum.h"

float sum_fast_math(const float* x, size_t n) {
  float total = 0;
  for (size_t i = 0; i < n; ++i) total += x[i];
  return total;
}
