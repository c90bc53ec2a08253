// Case 1: a*x+y, each call giving a fresh result. The rivals write into memory that the caller recycles.
#pragma once

#include <cstddef>

void triad_plain(float a, const float* x, const float* y, float* result, size_t n);
void triad_streaming(float a, const float* x, const float* y, float* result, size_t n);

/// Returns a new Eigen array a call; `use` sees its data.
void triad_eigen(float a, const float* x, const float* y, size_t n, void (*use)(const float*));
