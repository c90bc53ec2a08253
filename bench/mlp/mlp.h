// Case 22: a step of gradient descent on the mean cross-entropy of a network 784-512-512-10 with relu, batches of 128.
#pragma once

#include <cstddef>
#include <cstdint>

constexpr int64_t kLayers = 3, kWidths[kLayers + 1] = {784, 512, 512, 10}, kBatch = 128;
constexpr float kRate = 0.1f;

constexpr size_t parameters() {
  size_t count = 0;
  for (int64_t i = 0; i < kLayers; ++i) count += size_t((kWidths[i] + 1) * kWidths[i + 1]);
  return count;
}

/// Weights [in, out] and offsets [out] per layer; images [batch, 784]. Writes the updated parameters. Products by
/// cblas_sgemm.
void step_openblas(const float* parameters, const float* images, const int32_t* labels, float* moved);
/// The same in f64, with plain loops.
void step_reference(const double* parameters, const float* images, const int32_t* labels, double* moved);
