// Shared by the hand-written rivals: vectors of 64 bytes and e^x on them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

typedef float Vector __attribute__((vector_size(64)));
typedef int32_t IntVector __attribute__((vector_size(64)));
inline constexpr size_t kLanes = 16;

inline Vector load(const float* p) {
  Vector v;
  std::memcpy(&v, p, sizeof v);
  return v;
}
inline void store(float* p, Vector v) { std::memcpy(p, &v, sizeof v); }
inline Vector all(float x) { return Vector{} + x; }
inline Vector greater(Vector a, Vector b) { return a > b ? a : b; }

inline float sum_of(Vector v) {
  float s = 0;
  for (size_t l = 0; l < kLanes; ++l) s += v[l];
  return s;
}
inline float greatest_of(Vector v) {
  float m = v[0];
  for (size_t l = 1; l < kLanes; ++l) m = v[l] > m ? v[l] : m;
  return m;
}

/// e^x for x <= 0, within about 2 ulp; 0 below -87.
inline Vector exp_negative(Vector x) {
  const Vector low = all(-87.0f);
  const IntVector tiny = x < low;
  x = tiny ? low : x;
  const Vector shifted = x * 1.44269504f + 12582912.0f;
  const Vector n = shifted - 12582912.0f;
  const Vector r = (x - n * 0.693359375f) - n * -2.12194440e-4f;
  Vector p = r * 1.9875691500e-4f + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * r * r + r + 1.0f;
  IntVector bits;
  std::memcpy(&bits, &shifted, sizeof bits);
  IntVector scale = (bits - 0x4b400000 + 127) << 23;
  Vector factor;
  std::memcpy(&factor, &scale, sizeof factor);
  return tiny ? Vector{} : p * factor;
}
