#include "loop/loop.h"

double logistic_plain(double x, double r, int64_t steps) {
  for (int64_t i = 0; i < steps; ++i) x = r * x * (1.0 - x);
  return x;
}

double filter_plain(double carry, const double* x, double* __restrict result, int64_t n) {
  for (int64_t i = 0; i < n; ++i) result[i] = carry = 0.9 * carry + x[i];
  return carry;
}
