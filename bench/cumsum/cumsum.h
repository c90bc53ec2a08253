// Case 9: inclusive prefix sums.
#pragma once

#include <cstddef>

void cumsum_plain(const float* x, float* y, size_t n);
void cumsum_vectors(const float* x, float* y, size_t n);
