// Compute probes. Compiled for the machine at hand, like the rivals.
#include <algorithm>
#include <chrono>
#include <cstddef>

#include "common/harness.h"
#include "common/probes.h"

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
typedef float Vector __attribute__((vector_size(kBytes)));

/// Seconds of one of many steps x <- step(x, a, b) that wait for each other.
template <class Step>
double latency_of_step(Step step) {
  constexpr int steps = 100000;
  double best = 1e30;
  for (int attempt = 0; attempt < 20; ++attempt) {
    double x = 0.5, a = 0.75, b = 0.25;
    asm volatile("" : "+x"(a), "+x"(b));
    auto start = Clock::now();
    for (int i = 0; i < steps; ++i) {
      x = step(x, a, b);
      asm volatile("" : "+x"(x));
    }
    best = std::min(best, std::chrono::duration<double>(Clock::now() - start).count());
  }
  return best / steps;
}

}  // namespace

double fma_peak_f32() {
  constexpr int chains = 12;  // enough to hide the latency of two units
  constexpr int steps = 200000;
  double best = 1e30;
  for (int attempt = 0; attempt < 20; ++attempt) {
    Vector sums[chains] = {};
    Vector a = Vector{} + 0.999f, b = Vector{} + 0.001f;
    asm volatile("" : "+x"(a), "+x"(b));
    auto start = Clock::now();
    for (int i = 0; i < steps; ++i) {
#pragma GCC unroll 12
      for (int k = 0; k < chains; ++k) sums[k] = sums[k] * a + b;
#pragma GCC unroll 12
      for (int k = 0; k < chains; ++k) asm volatile("" : "+x"(sums[k]));
    }
    best = std::min(best, std::chrono::duration<double>(Clock::now() - start).count());
  }
  double peak = 2.0 * chains * steps * (kBytes / sizeof(float)) / best;
  note("f32 FMA peak (F)", peak / 1e9, "GFLOP/s");
  return peak;
}

double chain_latency_f64() {
  double latency = latency_of_step([](double x, double a, double b) {
                     x *= a;
                     asm volatile("" : "+x"(x));  // keeps the two from becoming one fused operation
                     return x + b;
                   }) /
                   2;
  note("f64 latency of an operation", latency * 1e9, "ns");
  return latency;
}

double fma_latency_f64() {
  double latency = latency_of_step([](double x, double a, double b) { return x * a + b; });
  note("f64 latency of x * a + b", latency * 1e9, "ns");
  return latency;
}

}  // namespace bench
