// The special functions of arrays, element by element, in f32 and f64.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

/// result = f(x), f(x, y) or f(x, y, z) of n numbers.
template <class T>
using Loop = void (*)(const T* x, const T* y, const T* z, T* result, size_t n);

/// Calls `f` with the element of each array; a rival's loops are made of it, with their file's flags.
template <class T, auto f>
void each(const T* x, const T* y, const T* z, T* result, size_t n) {
  for (size_t i = 0; i < n; ++i) result[i] = f(x[i], y[i], z[i]);
}

/// The function's loop of a library, or null where the library lacks it.
template <class T>
Loop<T> std_loop(std::string_view function);
template <class T>
Loop<T> boost_loop(std::string_view function);

/// "1.81", or empty if it is not installed.
std::string boost_version();
