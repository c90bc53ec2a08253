// The special functions of the C++ library.
#include <cmath>

#include "special/special.h"

template <class T>
Loop<T> std_loop(std::string_view function) {
  if (function == "lgamma") return each<T, [](T x, T, T) { return std::lgamma(x); }>;
  if (function == "beta") return each<T, [](T x, T y, T) { return std::beta(x, y); }>;
  if (function == "i0") return each<T, [](T x, T, T) { return std::cyl_bessel_i(T(0), x); }>;
  if (function == "i1") return each<T, [](T x, T, T) { return std::cyl_bessel_i(T(1), x); }>;
  if (function == "riemann zeta") return each<T, [](T x, T, T) { return std::riemann_zeta(x); }>;
  if (function == "ndtr") return each<T, [](T x, T, T) { return T(0.5) * std::erfc(x * T(-0.70710678118654752)); }>;
  return nullptr;
}

template Loop<float> std_loop<float>(std::string_view function);
template Loop<double> std_loop<double>(std::string_view function);
