// SLEEF at the widest vectors of this machine. Lengths are multiples of 16.
#include "math/routines.h"

#if __has_include(<sleef.h>) && defined(__AVX2__)
#include <immintrin.h>
#include <sleef.h>

namespace {

#ifdef __AVX512F__
using Single = __m512;
using Double = __m512d;
Single load(const float* p) { return _mm512_loadu_ps(p); }
Double load(const double* p) { return _mm512_loadu_pd(p); }
void store(float* p, Single v) { _mm512_storeu_ps(p, v); }
void store(double* p, Double v) { _mm512_storeu_pd(p, v); }
#define CALQUE_F32(name, accuracy) Sleef_##name##f16_##accuracy
#define CALQUE_F64(name, accuracy) Sleef_##name##d8_##accuracy
#else
using Single = __m256;
using Double = __m256d;
Single load(const float* p) { return _mm256_loadu_ps(p); }
Double load(const double* p) { return _mm256_loadu_pd(p); }
void store(float* p, Single v) { _mm256_storeu_ps(p, v); }
void store(double* p, Double v) { _mm256_storeu_pd(p, v); }
#define CALQUE_F32(name, accuracy) Sleef_##name##f8_##accuracy
#define CALQUE_F64(name, accuracy) Sleef_##name##d4_##accuracy
#endif

template <class V, auto f, class T>
void unary(const T* x, const T*, T* out, size_t n) {
  for (size_t i = 0; i < n; i += sizeof(V) / sizeof(T)) store(out + i, f(load(x + i)));
}
template <class V, auto f, class T>
void binary(const T* x, const T* y, T* out, size_t n) {
  for (size_t i = 0; i < n; i += sizeof(V) / sizeof(T)) store(out + i, f(load(x + i), load(y + i)));
}

}  // namespace

Routines sleef_routines() {
  Routines r;
#define CALQUE_ADD(kind, name, accuracy)                                                         \
  r.f32.push_back({#name, "sleef " #accuracy, kind<Single, CALQUE_F32(name, accuracy), float>}); \
  r.f64.push_back({#name, "sleef " #accuracy, kind<Double, CALQUE_F64(name, accuracy), double>});
#define CALQUE_BOTH(name) CALQUE_ADD(unary, name, u10) CALQUE_ADD(unary, name, u35)
  // Macros without semicolons.
  // clang-format off
  CALQUE_BOTH(exp2) CALQUE_BOTH(log) CALQUE_BOTH(log2) CALQUE_BOTH(sin) CALQUE_BOTH(cos) CALQUE_BOTH(tan)
  CALQUE_BOTH(asin) CALQUE_BOTH(acos) CALQUE_BOTH(atan) CALQUE_BOTH(sinh) CALQUE_BOTH(cosh) CALQUE_BOTH(tanh)
  CALQUE_BOTH(cbrt) CALQUE_ADD(unary, exp, u10) CALQUE_ADD(unary, expm1, u10) CALQUE_ADD(unary, log10, u10)
  CALQUE_ADD(unary, log1p, u10) CALQUE_ADD(unary, asinh, u10) CALQUE_ADD(unary, acosh, u10)
  CALQUE_ADD(unary, atanh, u10) CALQUE_ADD(unary, erf, u10) CALQUE_ADD(unary, erfc, u15)
  CALQUE_ADD(unary, lgamma, u10) CALQUE_ADD(unary, tgamma, u10) CALQUE_ADD(binary, pow, u10)
  CALQUE_ADD(binary, atan2, u10) CALQUE_ADD(binary, atan2, u35) CALQUE_ADD(binary, hypot, u05)
  CALQUE_ADD(binary, hypot, u35)
  return r;
}
// clang-format on
#else
Routines sleef_routines() { return {}; }
#endif
