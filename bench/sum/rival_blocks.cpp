// Hand-written: eight vectors of partial sums per block, blocks added in double: as accurate as pairwise summation, at
// memory bandwidth.
#include <algorithm>
#include <cstring>

#include "sum/sum.h"

float sum_blocks(const float* x, size_t n) {
  typedef float Vector __attribute__((vector_size(64)));
  constexpr size_t kLanes = 16, kVectors = 8, kBlock = 64 * kLanes * kVectors;
  double total = 0;
  size_t i = 0;
  while (i + kLanes * kVectors <= n) {
    Vector sums[kVectors] = {};
    size_t end = i + std::min(kBlock, (n - i) / (kLanes * kVectors) * (kLanes * kVectors));
    for (; i < end; i += kLanes * kVectors) {
      for (size_t k = 0; k < kVectors; ++k) {
        Vector v;
        std::memcpy(&v, x + i + k * kLanes, sizeof v);
        sums[k] += v;
      }
    }
    for (size_t k = kVectors / 2; k > 0; k /= 2)
      for (size_t j = 0; j < k; ++j) sums[j] += sums[j + k];
    for (size_t lane = 0; lane < kLanes; ++lane) total += double(sums[0][lane]);
  }
  for (; i < n; ++i) total += double(x[i]);
  return float(total);
}
