// Case 19: the overhead of a call with very little work.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

/// A new array of x[i] * y[i] + x[i].
std::unique_ptr<float[]> small_plain(const float* x, const float* y, size_t n);

using Scalar = double (*)(double, double);

/// x * y + x, behind a pointer and behind std::function.
Scalar scalar_pointer();
std::function<double(double, double)> scalar_function();
