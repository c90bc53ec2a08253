#include "dispatch/dispatch.h"

std::unique_ptr<float[]> small_plain(const float* x, const float* y, size_t n) {
  std::unique_ptr<float[]> result(new float[n]);
  for (size_t i = 0; i < n; ++i) result[i] = x[i] * y[i] + x[i];
  return result;
}

float* scaled_sum_pooled(Pool& pool, float a, const float* x, const float* y) {
  float* result = pool.take();
  for (size_t i = 0; i < pool.size(); ++i) result[i] = a * x[i] + y[i];
  return result;
}

Scalar scalar_pointer() {
  return [](double x, double y) { return x * y + x; };
}

std::function<double(double, double)> scalar_function() {
  return [](double x, double y) { return x * y + x; };
}
