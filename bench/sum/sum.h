// Case 5: the sum of many f32.
#pragma once

#include <cstddef>

float sum_plain(const float* x, size_t n);
float sum_fast_math(const float* x, size_t n);
float sum_blocks(const float* x, size_t n);
float sum_eigen(const float* x, size_t n);
