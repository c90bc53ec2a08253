#include <random>

#include "random/random.h"

void uniform_mersenne(float* out, size_t n) {
  std::mt19937 engine(1);
  std::uniform_real_distribution<float> distribution;
  for (size_t i = 0; i < n; ++i) out[i] = distribution(engine);
}

void uniform_mersenne(double* out, size_t n) {
  std::mt19937_64 engine(1);
  std::uniform_real_distribution<double> distribution;
  for (size_t i = 0; i < n; ++i) out[i] = distribution(engine);
}

void normal_mersenne(float* out, size_t n) {
  std::mt19937 engine(1);
  std::normal_distribution<float> distribution;
  for (size_t i = 0; i < n; ++i) out[i] = distribution(engine);
}

void normal_mersenne(double* out, size_t n) {
  std::mt19937_64 engine(1);
  std::normal_distribution<double> distribution;
  for (size_t i = 0; i < n; ++i) out[i] = distribution(engine);
}
