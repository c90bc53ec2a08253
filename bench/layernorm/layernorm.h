// Case 7: layer normalisation of each row of an f32 matrix, y = (x - mean) / sqrt(variance + 1e-5) * gain + bias, and
// its derivatives.
#pragma once

#include <cstddef>

inline constexpr float kEpsilon = 1e-5f;

void layernorm_plain(const float* x, const float* gain, const float* bias, float* y, size_t rows, size_t columns);
/// Given dy: dx, and the contributions of the rows to dgain and dbias.
void layernorm_backward(const float* x, const float* gain, const float* dy, float* dx, float* dgain, float* dbias,
                        size_t rows, size_t columns);
