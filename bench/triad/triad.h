// Case 1: a*x+y, each call returning a new result. The rivals write into memory that the caller recycles.
#pragma once

#include <cstddef>

void triad_plain(float a, const float* x, const float* y, float* result, size_t n);
void triad_non_temporal(float a, const float* x, const float* y, float* result, size_t n);

/// Computes a new Eigen array per call; `use` receives its data.
void triad_eigen(float a, const float* x, const float* y, size_t n, void (*use)(const float*));
