// Cases 12 and 13: `count` products of small square f32 matrices, contiguous and row-major.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

using Products = std::function<void(const float* a, const float* b, float* c)>;

/// Eigen's fixed-size matrices up to 16, dynamic ones beyond.
Products products_eigen(int64_t count, int64_t n);
/// A row of c is a sum of rows of b, in vectors of one row or more.
Products products_plain(int64_t count, int64_t n);
/// Empty if the library generates no kernel.
Products products_libxsmm(int64_t count, int64_t n);
std::string libxsmm_version();
