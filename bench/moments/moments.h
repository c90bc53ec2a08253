// Case 8: log of the sum of exponentials, and variance, of each row of an f32 matrix.
#pragma once

#include <cstddef>

void logsumexp_fast_math(const float* x, float* y, size_t rows, size_t columns);
void logsumexp_vectors(const float* x, float* y, size_t rows, size_t columns);
void variance_fast_math(const float* x, float* y, size_t rows, size_t columns);
