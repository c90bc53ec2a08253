// Case: sorts and what is made of them. Rivals sort in place.
#pragma once

#include <cstddef>
#include <cstdint>

/// Highway's vqsort, not stable.
void sort_vqsort(float* x, size_t n);
void sort_vqsort(double* x, size_t n);
void sort_vqsort(uint64_t* x, size_t n);

/// Counts of the numbers in [-1, 1) in bins of equal width.
void histogram_plain(const float* x, size_t n, int32_t* counts, int bins);
