// Case: random numbers, stored and summed.
#pragma once

#include <cstddef>
#include <cstdint>

/// Uniform in [0, 1) by Threefry-2x32 of the number of each element, the same bits as ours.
void uniform_threefry(uint32_t k0, uint32_t k1, float* out, size_t n);
/// By std::mt19937 and std::mt19937_64 with the distributions of <random>.
void uniform_mersenne(float* out, size_t n);
void uniform_mersenne(double* out, size_t n);
void normal_mersenne(float* out, size_t n);
void normal_mersenne(double* out, size_t n);
