// Non-temporal stores: the result bypasses the caches, which avoids reading its lines first.
#include "triad/triad.h"

#if defined(__AVX__)
#include <immintrin.h>
#endif

void triad_non_temporal(float a, const float* x, const float* y, float* __restrict result, size_t n) {
  size_t i = 0;
#if defined(__AVX512F__)
  __m512 factor = _mm512_set1_ps(a);
  for (; i + 16 <= n; i += 16)
    _mm512_stream_ps(result + i, _mm512_fmadd_ps(factor, _mm512_loadu_ps(x + i), _mm512_loadu_ps(y + i)));
#elif defined(__AVX__)
  __m256 factor = _mm256_set1_ps(a);
  for (; i + 8 <= n; i += 8)
    _mm256_stream_ps(result + i, _mm256_add_ps(_mm256_mul_ps(factor, _mm256_loadu_ps(x + i)), _mm256_loadu_ps(y + i)));
#endif
  for (; i < n; ++i) result[i] = a * x[i] + y[i];
#if defined(__AVX__)
  _mm_sfence();
#endif
}
