// Functions with branches and loops that data decide, as the rivals have them: in C++, natively compiled.
#pragma once

#include <cstdint>

/// x / |x| if |x| > 1, else x: of n numbers.
void limited_plain(const double* x, double* result, int64_t n);

/// `count` steps: x / 2 if x > 1, else 3 x + 0.1.
double zigzag_plain(double x, int count);

/// The square root of a by Newton's method, to a relative error of the square of 1e-12; at most 50 steps.
double root_plain(double a);

/// The running sums of the first n numbers.
void sums_plain(const double* x, double* result, int64_t n);

/// The solution of a symmetric system of 6 unknowns by Eigen's ldlt; a is column-major.
void solve_eigen(const double* a, const double* b, double* x);
