// Case 3: functions over arrays in L1. A routine is one rival's loop for one function.
#pragma once

#include <cstddef>
#include <vector>

/// out[i] = function(x[i]) or function(x[i], y[i]) by one rival.
template <class T>
struct Routine {
  const char* function;
  const char* rival;
  void (*run)(const T* x, const T* y, T* out, size_t n);
};

/// The measured functions, per type. The list of a rival omits functions that it lacks.
struct Routines {
  std::vector<Routine<float>> f32;
  std::vector<Routine<double>> f64;
};

Routines sleef_routines();       ///< SLEEF's vector functions, u10 (1 ulp) and u35 (3.5 ulp)
Routines eigen_routines();       ///< Eigen's array functions
Routines plain_routines();       ///< loops over the C library's functions
Routines fast_math_routines();   ///< the same with -ffast-math: the compiler calls the C library's vector functions
Routines intrinsics_routines();  ///< written by hand for AVX-512, <= 1 ulp

/// Cycles of the processor's clock a second, from a chain of dependent additions.
double clock_frequency();
