#include "nbody/nbody.h"

#if defined(__AVX512F__)
#include <immintrin.h>

void accelerations_intrinsics(const Bodies& b, float* out) {
  constexpr size_t kLanes = 16, kVectors = 2;
  const __m512 half = _mm512_set1_ps(0.5f), three_halves = _mm512_set1_ps(1.5f), soft = _mm512_set1_ps(kSoftening);
  size_t i = 0;
  for (; i + kLanes * kVectors <= b.n; i += kLanes * kVectors) {
    __m512 x[kVectors], y[kVectors], z[kVectors], sx[kVectors], sy[kVectors], sz[kVectors];
    for (size_t v = 0; v < kVectors; ++v) {
      x[v] = _mm512_loadu_ps(b.x + i + v * kLanes);
      y[v] = _mm512_loadu_ps(b.y + i + v * kLanes);
      z[v] = _mm512_loadu_ps(b.z + i + v * kLanes);
      sx[v] = sy[v] = sz[v] = _mm512_setzero_ps();
    }
    for (size_t j = 0; j < b.n; ++j) {
      __m512 xj = _mm512_set1_ps(b.x[j]), yj = _mm512_set1_ps(b.y[j]), zj = _mm512_set1_ps(b.z[j]);
      __m512 mass = _mm512_set1_ps(b.mass[j]);
#pragma GCC unroll 2
      for (size_t v = 0; v < kVectors; ++v) {
        __m512 dx = _mm512_sub_ps(xj, x[v]), dy = _mm512_sub_ps(yj, y[v]), dz = _mm512_sub_ps(zj, z[v]);
        __m512 square = _mm512_fmadd_ps(dx, dx, _mm512_fmadd_ps(dy, dy, _mm512_fmadd_ps(dz, dz, soft)));
        __m512 r = _mm512_rsqrt14_ps(square);
        __m512 rr = _mm512_mul_ps(r, r);
        r = _mm512_mul_ps(r, _mm512_fnmadd_ps(_mm512_mul_ps(square, half), rr, three_halves));
        __m512 weight = _mm512_mul_ps(_mm512_mul_ps(mass, r), _mm512_mul_ps(r, r));
        sx[v] = _mm512_fmadd_ps(weight, dx, sx[v]);
        sy[v] = _mm512_fmadd_ps(weight, dy, sy[v]);
        sz[v] = _mm512_fmadd_ps(weight, dz, sz[v]);
      }
    }
    for (size_t v = 0; v < kVectors; ++v) {
      _mm512_storeu_ps(out + i + v * kLanes, sx[v]);
      _mm512_storeu_ps(out + b.n + i + v * kLanes, sy[v]);
      _mm512_storeu_ps(out + 2 * b.n + i + v * kLanes, sz[v]);
    }
  }
  if (i == b.n) return;
  // A remainder, which powers of two do not have, would need masks: use the plain loop then.
  accelerations_plain(b, out);
}

#else

void accelerations_intrinsics(const Bodies& b, float* out) { accelerations_fast_math(b, out); }

#endif
