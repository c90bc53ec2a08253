// Compute probes. Compiled for the host CPU, like the rivals.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "common/harness.h"
#include "common/probes.h"

#if defined(__AVX512BF16__)
#include <immintrin.h>
#endif

namespace bench {
namespace {

using Clock = std::chrono::steady_clock;

#if defined(__AVX512F__)
constexpr size_t kBytes = 64;
#elif defined(__AVX__)
constexpr size_t kBytes = 32;
#else
constexpr size_t kBytes = 16;
#endif
typedef float Floats __attribute__((vector_size(kBytes)));
typedef double Doubles __attribute__((vector_size(kBytes)));

template <class Work>
double best_seconds(Work work) {
  double best = 1e30;
  for (int attempt = 0; attempt < 20; ++attempt) {
    auto start = Clock::now();
    work();
    best = std::min(best, std::chrono::duration<double>(Clock::now() - start).count());
  }
  return best;
}

/// Seconds per step in a chain of dependent steps x <- step(x, a, b).
template <class Step>
double latency_of_step(Step step) {
  constexpr int steps = 100000;
  double x = 0.5, a = 0.75, b = 0.25;
  asm volatile("" : "+x"(a), "+x"(b));
  return best_seconds([&] {
           for (int i = 0; i < steps; ++i) {
             x = step(x, a, b);
             asm volatile("" : "+x"(x));
           }
         }) /
         steps;
}

/// Twelve chains of vector steps, enough to hide the latency of two units. Each chain is a separate variable: an
/// array of them would be in memory.
template <class Vector, class Step>
double seconds_of_independent(int steps, Step step) {
  return best_seconds([&] {
    Vector c0{}, c1{}, c2{}, c3{}, c4{}, c5{}, c6{}, c7{}, c8{}, c9{}, c10{}, c11{};
    for (int i = 0; i < steps; ++i) {
      c0 = step(c0), c1 = step(c1), c2 = step(c2), c3 = step(c3), c4 = step(c4), c5 = step(c5);
      c6 = step(c6), c7 = step(c7), c8 = step(c8), c9 = step(c9), c10 = step(c10), c11 = step(c11);
      asm volatile("" : "+x"(c0), "+x"(c1), "+x"(c2), "+x"(c3), "+x"(c4), "+x"(c5));
      asm volatile("" : "+x"(c6), "+x"(c7), "+x"(c8), "+x"(c9), "+x"(c10), "+x"(c11));
    }
  });
}

constexpr int kSteps = 200000;

template <class Vector, class T>
double fma_peak(T factor, T addend) {
  Vector a = Vector{} + factor, b = Vector{} + addend;
  asm volatile("" : "+x"(a), "+x"(b));
  double seconds = seconds_of_independent<Vector>(kSteps, [&](Vector c) { return c * a + b; });
  return 2.0 * 12 * kSteps * double(kBytes / sizeof(T)) / seconds;
}

}  // namespace

double fma_peak_f32() {
  double peak = fma_peak<Floats>(0.999f, 0.001f);
  record("f32 FMA peak (F)", peak / 1e9, "GFLOP/s");
  return peak;
}

double fma_peak_f64() {
  double peak = fma_peak<Doubles>(0.999, 0.001);
  record("f64 FMA peak", peak / 1e9, "GFLOP/s");
  return peak;
}

double dot_peak_bf16() {
#if defined(__AVX512BF16__)
  __m512bh a = (__m512bh)_mm512_set1_epi32(0x3c003c00), b = (__m512bh)_mm512_set1_epi32(0x3c003c00);
  asm volatile("" : "+x"(a), "+x"(b));
  double seconds = seconds_of_independent<__m512>(kSteps, [&](__m512 c) { return _mm512_dpbf16_ps(c, a, b); });
  double peak = 4.0 * 12 * kSteps * 16 / seconds;
  record("bf16 dot product peak", peak / 1e9, "GFLOP/s");
  return peak;
#else
  return 0;
#endif
}

double clock_rate() {
  constexpr int steps = 1000000;
  double seconds = best_seconds([&] {
    int64_t x = 0;
    for (int i = 0; i < steps; i += 10) {
#pragma GCC unroll 10
      for (int k = 0; k < 10; ++k) asm volatile("add $1, %0" : "+r"(x));
    }
  });
  double rate = steps / seconds;
  record("clock", rate / 1e9, "GHz");
  return rate;
}

double chain_latency_f64() {
  double latency = latency_of_step([](double x, double a, double b) {
                     x *= a;
                     asm volatile("" : "+x"(x));  // prevents contraction of the two operations
                     return x + b;
                   }) /
                   2;
  record("f64 latency of an operation", latency * 1e9, "ns");
  return latency;
}

double fma_latency_f64() {
  double latency = latency_of_step([](double x, double a, double b) { return x * a + b; });
  record("f64 latency of x * a + b", latency * 1e9, "ns");
  return latency;
}

}  // namespace bench
