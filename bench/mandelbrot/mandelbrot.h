// Case 17: the Mandelbrot set on a square image, with a loop of data-dependent length per pixel. A pixel's value is the
// number of steps z <- z^2 + c, from z = 0, while |z|^2 <= 4, at most kSteps.
#pragma once

#include <cstddef>
#include <cstdint>

constexpr int32_t kSteps = 256;

void mandelbrot_scalar(const float* real, const float* imaginary, int32_t* counts, size_t n);
void mandelbrot_intrinsics(const float* real, const float* imaginary, int32_t* counts, size_t n);
