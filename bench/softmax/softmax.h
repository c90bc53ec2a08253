// Case 6: softmax of each row of an f32 matrix.
#pragma once

#include <cstddef>

void softmax_fast_math(const float* x, float* y, size_t rows, size_t columns);
void softmax_vectors(const float* x, float* y, size_t rows, size_t columns);
