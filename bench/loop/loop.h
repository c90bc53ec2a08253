// Case 16: loops of many short steps, each depending on the previous one.
#pragma once

#include <cstdint>

/// x <- r x (1 - x), `steps` times.
double logistic_plain(double x, double r, int64_t steps);

/// carry <- 0.9 carry + x[i]; result[i] = carry. Returns the last carry.
double filter_plain(double carry, const double* x, double* result, int64_t n);
