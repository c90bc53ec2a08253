// Hand-written: four vectors of pixels at a time to hide the latency of a step, iterated while any lane is active.
#include "mandelbrot/mandelbrot.h"

#if defined(__AVX512F__)
#include <immintrin.h>

void mandelbrot_intrinsics(const float* real, const float* imaginary, int32_t* counts, size_t n) {
  constexpr size_t kLanes = 16, kVectors = 4;
  const __m512 four = _mm512_set1_ps(4.0f);
  const __m512i one = _mm512_set1_epi32(1);
  size_t i = 0;
  for (; i + kLanes * kVectors <= n; i += kLanes * kVectors) {
    __m512 cr[kVectors], ci[kVectors], x[kVectors], y[kVectors];
    __m512i k[kVectors];
    __mmask16 live[kVectors];
    for (size_t v = 0; v < kVectors; ++v) {
      cr[v] = _mm512_loadu_ps(real + i + v * kLanes);
      ci[v] = _mm512_loadu_ps(imaginary + i + v * kLanes);
      x[v] = y[v] = _mm512_setzero_ps();
      k[v] = _mm512_setzero_si512();
      live[v] = 0xffff;
    }
    for (int32_t step = 0; step < kSteps; ++step) {
      unsigned any = 0;
#pragma GCC unroll 4
      for (size_t v = 0; v < kVectors; ++v) {
        __m512 yy = _mm512_mul_ps(y[v], y[v]);
        // An escaped lane stays inactive: its z may return below the bound, but its count must not increase.
        live[v] = _mm512_mask_cmp_ps_mask(live[v], _mm512_fmadd_ps(x[v], x[v], yy), four, _CMP_LE_OQ);
        k[v] = _mm512_mask_add_epi32(k[v], live[v], k[v], one);
        __m512 next = _mm512_add_ps(_mm512_fmsub_ps(x[v], x[v], yy), cr[v]);
        y[v] = _mm512_fmadd_ps(_mm512_add_ps(x[v], x[v]), y[v], ci[v]);
        x[v] = next;
        any |= live[v];
      }
      if (any == 0) break;
    }
    for (size_t v = 0; v < kVectors; ++v) _mm512_storeu_si512(counts + i + v * kLanes, k[v]);
  }
  mandelbrot_scalar(real + i, imaginary + i, counts + i, n - i);
}

#elif defined(__AVX2__) && defined(__FMA__)
#include <immintrin.h>

void mandelbrot_intrinsics(const float* real, const float* imaginary, int32_t* counts, size_t n) {
  constexpr size_t kLanes = 8, kVectors = 2;
  const __m256 four = _mm256_set1_ps(4.0f);
  size_t i = 0;
  for (; i + kLanes * kVectors <= n; i += kLanes * kVectors) {
    __m256 cr[kVectors], ci[kVectors], x[kVectors], y[kVectors], live[kVectors];
    __m256i k[kVectors];
    for (size_t v = 0; v < kVectors; ++v) {
      cr[v] = _mm256_loadu_ps(real + i + v * kLanes);
      ci[v] = _mm256_loadu_ps(imaginary + i + v * kLanes);
      x[v] = y[v] = _mm256_setzero_ps();
      k[v] = _mm256_setzero_si256();
      live[v] = _mm256_castsi256_ps(_mm256_set1_epi32(-1));
    }
    for (int32_t step = 0; step < kSteps; ++step) {
      int any = 0;
#pragma GCC unroll 2
      for (size_t v = 0; v < kVectors; ++v) {
        __m256 yy = _mm256_mul_ps(y[v], y[v]);
        live[v] = _mm256_and_ps(live[v], _mm256_cmp_ps(_mm256_fmadd_ps(x[v], x[v], yy), four, _CMP_LE_OQ));
        k[v] = _mm256_sub_epi32(k[v], _mm256_castps_si256(live[v]));
        __m256 next = _mm256_add_ps(_mm256_fmsub_ps(x[v], x[v], yy), cr[v]);
        y[v] = _mm256_fmadd_ps(_mm256_add_ps(x[v], x[v]), y[v], ci[v]);
        x[v] = next;
        any |= _mm256_movemask_ps(live[v]);
      }
      if (any == 0) break;
    }
    for (size_t v = 0; v < kVectors; ++v)
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(counts + i + v * kLanes), k[v]);
  }
  mandelbrot_scalar(real + i, imaginary + i, counts + i, n - i);
}

#else

void mandelbrot_intrinsics(const float* real, const float* imaginary, int32_t* counts, size_t n) {
  mandelbrot_scalar(real, imaginary, counts, n);
}

#endif
