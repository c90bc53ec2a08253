#include <cmath>

#include "branches/plain.h"

void limited_plain(const double* x, double* result, int64_t n) {
  double square = 0;
  for (int64_t i = 0; i < n; ++i) square += x[i] * x[i];
  const double norm = std::sqrt(square);
  if (norm > 1) {
    for (int64_t i = 0; i < n; ++i) result[i] = x[i] / norm;
  } else {
    for (int64_t i = 0; i < n; ++i) result[i] = x[i];
  }
}

double zigzag_plain(double x, int count) {
  for (int i = 0; i < count; ++i) x = x > 1 ? 0.5 * x : 3 * x + 0.1;
  return x;
}

double root_plain(double a) {
  double x = a;
  for (int i = 0; i < 50 && std::abs(x * x - a) > 1e-12 * a; ++i) x = 0.5 * (x + a / x);
  return x;
}

void sums_plain(const double* x, double* result, int64_t n) {
  double sum = 0;
  for (int64_t i = 0; i < n; ++i) result[i] = sum += x[i];
}
