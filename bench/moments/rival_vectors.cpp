// Hand-vectorized; `columns` is a multiple of four vectors.
#include <cmath>

#include "common/vectors.h"
#include "moments/moments.h"

void logsumexp_vectors(const float* x, float* y, size_t rows, size_t columns) {
  for (size_t r = 0; r < rows; ++r, x += columns) {
    Vector most[4] = {load(x), load(x), load(x), load(x)};
    for (size_t c = 0; c < columns; c += 4 * kLanes)
      for (size_t k = 0; k < 4; ++k) most[k] = greater(most[k], load(x + c + k * kLanes));
    const float shift = greatest_of(greater(greater(most[0], most[1]), greater(most[2], most[3])));
    Vector sums[4] = {};
    for (size_t c = 0; c < columns; c += 4 * kLanes)
      for (size_t k = 0; k < 4; ++k) sums[k] += exp_negative(load(x + c + k * kLanes) - shift);
    y[r] = shift + std::log(sum_of((sums[0] + sums[1]) + (sums[2] + sums[3])));
  }
}
