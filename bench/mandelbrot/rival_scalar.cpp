#include "mandelbrot/mandelbrot.h"

void mandelbrot_scalar(const float* real, const float* imaginary, int32_t* counts, size_t n) {
  for (size_t i = 0; i < n; ++i) {
    float x = 0, y = 0, xx = 0, yy = 0;
    int32_t k = 0;
    for (; k < kSteps && xx + yy <= 4.0f; ++k) {
      y = 2 * x * y + imaginary[i];
      x = xx - yy + real[i];
      xx = x * x;
      yy = y * y;
    }
    counts[i] = k;
  }
}
