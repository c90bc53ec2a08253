// Case 4: prices of European calls and their five Greeks.
#pragma once

#include <array>
#include <cstddef>

/// Columns of n numbers; the rate is a single number.
struct Options {
  const double *spot, *strike, *time, *volatility;
  double rate;
  size_t n;
};

/// price, delta, gamma, theta (by the time to expiry), vega, rho: a column of n numbers each.
using Greeks = std::array<double*, 6>;

/// Closed forms, with the C library's functions.
void greeks_plain(const Options& options, const Greeks& out);
/// The same, compiled with -ffast-math, where the compiler calls the C library's vector functions.
void greeks_fast_math(const Options& options, const Greeks& out);
/// The same on vectors, with SLEEF's functions (1 ulp).
void greeks_sleef(const Options& options, const Greeks& out);
const char* sleef_version();
