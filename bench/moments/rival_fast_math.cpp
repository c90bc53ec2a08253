#include <cmath>

#include "moments/moments.h"

void logsumexp_fast_math(const float* x, float* y, size_t rows, size_t columns) {
  for (size_t r = 0; r < rows; ++r, x += columns) {
    float most = x[0], sum = 0;
    for (size_t c = 0; c < columns; ++c) most = std::fmax(most, x[c]);
    for (size_t c = 0; c < columns; ++c) sum += std::exp(x[c] - most);
    y[r] = most + std::log(sum);
  }
}

void variance_fast_math(const float* x, float* y, size_t rows, size_t columns) {
  for (size_t r = 0; r < rows; ++r, x += columns) {
    float sum = 0, squares = 0;
    for (size_t c = 0; c < columns; ++c) sum += x[c];
    const float mean = sum / float(columns);
    for (size_t c = 0; c < columns; ++c) squares += (x[c] - mean) * (x[c] - mean);
    y[r] = squares / float(columns);
  }
}
