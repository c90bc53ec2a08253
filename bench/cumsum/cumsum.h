// Case 9: sums of the elements up to each place.
#pragma once

#include <cstddef>

void cumsum_plain(const float* x, float* y, size_t n);
void cumsum_vectors(const float* x, float* y, size_t n);
