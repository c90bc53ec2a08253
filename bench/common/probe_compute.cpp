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

/// Twelve chains of vector multiply-adds, enough to hide the latency of two units. Each chain is a variable of its own:
/// an array of them would live in memory.
[[gnu::noinline]] void independent_fmas(int steps) {
  Vector a = Vector{} + 0.999f, b = Vector{} + 0.001f;
  Vector c0{}, c1{}, c2{}, c3{}, c4{}, c5{}, c6{}, c7{}, c8{}, c9{}, c10{}, c11{};
  asm volatile("" : "+x"(a), "+x"(b));
  for (int i = 0; i < steps; ++i) {
    c0 = c0 * a + b, c1 = c1 * a + b, c2 = c2 * a + b, c3 = c3 * a + b;
    c4 = c4 * a + b, c5 = c5 * a + b, c6 = c6 * a + b, c7 = c7 * a + b;
    c8 = c8 * a + b, c9 = c9 * a + b, c10 = c10 * a + b, c11 = c11 * a + b;
    asm volatile("" : "+x"(c0), "+x"(c1), "+x"(c2), "+x"(c3), "+x"(c4), "+x"(c5));
    asm volatile("" : "+x"(c6), "+x"(c7), "+x"(c8), "+x"(c9), "+x"(c10), "+x"(c11));
  }
}

}  // namespace

double fma_peak_f32() {
  constexpr int steps = 200000;
  double best = 1e30;
  for (int attempt = 0; attempt < 20; ++attempt) {
    auto start = Clock::now();
    independent_fmas(steps);
    best = std::min(best, std::chrono::duration<double>(Clock::now() - start).count());
  }
  double peak = 2.0 * 12 * steps * (kBytes / sizeof(float)) / best;
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
