// The straightforward loop: strictly in order, so it is bound by the latency of an addition, and inaccurate.
#include "sum/sum.h"

float sum_plain(const float* x, size_t n) {
  float total = 0;
  for (size_t i = 0; i < n; ++i) total += x[i];
  return total;
}
