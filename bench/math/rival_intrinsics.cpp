// exp for AVX-512 as an expert would write it, within 1 ulp: two steps of reduction, a polynomial, scalef for overflow
// and subnormal results.
#if defined(__GNUC__) && !defined(__clang__)
// GCC 12 warns about intentionally undefined operands in its own intrinsics.
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif
#include "math/routines.h"

#ifdef __AVX512F__
#include <immintrin.h>

namespace {

void exp_f32(const float* x, const float*, float* out, size_t n) {
  for (size_t i = 0; i < n; i += 16) {
    const __m512 v = _mm512_loadu_ps(x + i);
    const __m512 k = _mm512_roundscale_ps(v * 0x1.715476p0f, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    const __m512 r =
        _mm512_fnmadd_ps(k, _mm512_set1_ps(-0x1.05c610p-29f), _mm512_fnmadd_ps(k, _mm512_set1_ps(0x1.62e43p-1f), v));
    __m512 p = _mm512_set1_ps(0x1.6850e4p-10f);
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(0x1.123bccp-7f));
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(0x1.555b98p-5f));
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(0x1.55548ep-3f));
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(0x1.fffff8p-2f));
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(1.0f));
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(1.0f));
    _mm512_storeu_ps(out + i, _mm512_scalef_ps(p, k));
  }
}

}  // namespace

Routines intrinsics_routines() { return {{{"exp", "intrinsics", exp_f32}}, {}}; }
#else
Routines intrinsics_routines() { return {}; }
#endif
