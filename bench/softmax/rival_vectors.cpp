// Hand-vectorized: the exponentials are stored in the result and scaled there.
#include "common/vectors.h"
#include "softmax/softmax.h"

// `columns` is a multiple of four vectors.
void softmax_vectors(const float* x, float* y, size_t rows, size_t columns) {
  constexpr size_t kStep = 4 * kLanes;
  for (size_t r = 0; r < rows; ++r, x += columns, y += columns) {
    Vector most[4] = {load(x), load(x), load(x), load(x)};
    for (size_t c = 0; c < columns; c += kStep)
      for (size_t k = 0; k < 4; ++k) most[k] = greater(most[k], load(x + c + k * kLanes));
    const Vector shift = all(greatest_of(greater(greater(most[0], most[1]), greater(most[2], most[3]))));
    Vector sums[4] = {};
    for (size_t c = 0; c < columns; c += kStep)
      for (size_t k = 0; k < 4; ++k) {
        const Vector e = exp_negative(load(x + c + k * kLanes) - shift);
        store(y + c + k * kLanes, e);
        sums[k] += e;
      }
    const float factor = 1 / sum_of((sums[0] + sums[1]) + (sums[2] + sums[3]));
    for (size_t c = 0; c < columns; c += kLanes) store(y + c, load(y + c) * factor);
  }
}
