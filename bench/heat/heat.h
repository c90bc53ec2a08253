// Case 18: explicit steps of the heat equation on a square grid, u += k (sum of 4 neighbours - 4 u); the border is 0.
#pragma once

#include <cstdint>

constexpr float kConductivity = 0.2f;

/// Double-buffered grids; the result is in `to`, `spare` is the other buffer.
void heat_plain(const float* from, float* to, float* spare, int64_t n, int64_t steps);
/// Two steps at a time while a band of rows is in the L2 cache.
void heat_two_steps(const float* from, float* to, float* spare, int64_t n, int64_t steps);
