// Real and imaginary parts in arrays of their own, which needs no shuffles: the limit of interleaved numbers.
#include "complex/complex.h"

#if defined(__AVX__)
#include <immintrin.h>
#endif

void multiply_add_planar(const float* x, const float* y, const float* z, float* __restrict result, size_t n) {
  size_t i = 0;
#if defined(__AVX512F__)
  for (; i + 16 <= n; i += 16) {
    const __m512 a = _mm512_loadu_ps(x + i), b = _mm512_loadu_ps(x + n + i);
    const __m512 c = _mm512_loadu_ps(y + i), d = _mm512_loadu_ps(y + n + i);
    const __m512 re = _mm512_fmadd_ps(a, c, _mm512_fnmadd_ps(b, d, _mm512_loadu_ps(z + i)));
    const __m512 im = _mm512_fmadd_ps(a, d, _mm512_fmadd_ps(b, c, _mm512_loadu_ps(z + n + i)));
    _mm512_storeu_ps(result + i, re);
    _mm512_storeu_ps(result + n + i, im);
  }
#elif defined(__FMA__)
  for (; i + 8 <= n; i += 8) {
    const __m256 a = _mm256_loadu_ps(x + i), b = _mm256_loadu_ps(x + n + i);
    const __m256 c = _mm256_loadu_ps(y + i), d = _mm256_loadu_ps(y + n + i);
    const __m256 re = _mm256_fmadd_ps(a, c, _mm256_fnmadd_ps(b, d, _mm256_loadu_ps(z + i)));
    const __m256 im = _mm256_fmadd_ps(a, d, _mm256_fmadd_ps(b, c, _mm256_loadu_ps(z + n + i)));
    _mm256_storeu_ps(result + i, re);
    _mm256_storeu_ps(result + n + i, im);
  }
#endif
  for (; i < n; ++i) {
    const float a = x[i], b = x[n + i], c = y[i], d = y[n + i];
    result[i] = a * c - b * d + z[i];
    result[n + i] = a * d + b * c + z[n + i];
  }
}
