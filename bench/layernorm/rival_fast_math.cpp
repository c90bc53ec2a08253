// Plain loops over rows that stay in cache, under -ffast-math.
#include <cmath>

#include "layernorm/layernorm.h"

namespace {

struct Moments {
  float mean, scale;
};

Moments moments(const float* x, size_t n) {
  float sum = 0, squares = 0;
  for (size_t c = 0; c < n; ++c) sum += x[c];
  const float mean = sum / float(n);
  for (size_t c = 0; c < n; ++c) squares += (x[c] - mean) * (x[c] - mean);
  return {mean, 1 / std::sqrt(squares / float(n) + kEpsilon)};
}

}  // namespace

void layernorm_plain(const float* x, const float* gain, const float* bias, float* y, size_t rows, size_t columns) {
  for (size_t r = 0; r < rows; ++r, x += columns, y += columns) {
    const auto [mean, scale] = moments(x, columns);
    for (size_t c = 0; c < columns; ++c) y[c] = (x[c] - mean) * scale * gain[c] + bias[c];
  }
}

void layernorm_backward(const float* x, const float* gain, const float* dy, float* dx, float* dgain, float* dbias,
                        size_t rows, size_t columns) {
  for (size_t c = 0; c < columns; ++c) dgain[c] = dbias[c] = 0;
  for (size_t r = 0; r < rows; ++r, x += columns, dy += columns, dx += columns) {
    const auto [mean, scale] = moments(x, columns);
    float along = 0, sum = 0;
    for (size_t c = 0; c < columns; ++c) {
      const float normal = (x[c] - mean) * scale, g = dy[c] * gain[c];
      along += g * normal;
      sum += g;
      dgain[c] += dy[c] * normal;
      dbias[c] += dy[c];
    }
    along /= float(columns);
    sum /= float(columns);
    for (size_t c = 0; c < columns; ++c) dx[c] = scale * (dy[c] * gain[c] - sum - (x[c] - mean) * scale * along);
  }
}
