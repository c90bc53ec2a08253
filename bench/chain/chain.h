// Case 2: a chain of twelve arithmetic operations on data in the second-level cache.
#pragma once

#include <cstddef>

/// The chain, generic over its operand: floats, doubles, tracers, Eigen arrays.
template <class X>
auto chain(const X& x) {
  auto a = x * 1.1f + 0.3f;        // 2
  auto b = (a * x - 0.7f) * a;     // 3
  auto c = (b + x) * 0.5f - a;     // 3
  return (c * b + 0.25f) * c - x;  // 4
}

void chain_plain(const float* x, float* result, size_t n);
void chain_fast_math(const float* x, float* result, size_t n);
void chain_eigen(const float* x, float* result, size_t n);
