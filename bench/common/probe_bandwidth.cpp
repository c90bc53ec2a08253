// Bandwidth probes. Compiled for the host CPU, like the rivals.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <memory>

#include "common/harness.h"
#include "common/probes.h"
#include "common/recycler.h"

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace bench {
namespace {

using Clock = std::chrono::steady_clock;

template <class Work>
double best_seconds(int tries, Work work) {
  double best = 1e30;
  for (int i = 0; i < tries; ++i) {
    auto start = Clock::now();
    work();
    best = std::min(best, std::chrono::duration<double>(Clock::now() - start).count());
  }
  return best;
}

#if defined(__AVX512F__)
constexpr size_t kBytes = 64;
#elif defined(__AVX__)
constexpr size_t kBytes = 32;
#else
constexpr size_t kBytes = 16;
#endif
typedef float Vector __attribute__((vector_size(kBytes)));
constexpr size_t kLanes = kBytes / sizeof(float);

void stream(float* to, Vector value) {
#if defined(__AVX512F__)
  _mm512_stream_ps(to, reinterpret_cast<__m512&>(value));
#elif defined(__AVX__)
  _mm256_stream_ps(to, reinterpret_cast<__m256&>(value));
#elif defined(__SSE2__)
  _mm_stream_ps(to, reinterpret_cast<__m128&>(value));
#else
  std::memcpy(to, &value, sizeof value);
#endif
}

Vector load(const float* from) { return *reinterpret_cast<const Vector*>(from); }

float read_all(const float* x, size_t n) {
  Vector sums[8] = {};
  for (size_t i = 0; i < n; i += 8 * kLanes)
    for (size_t k = 0; k < 8; ++k) sums[k] += load(x + i + k * kLanes);
  for (int k = 1; k < 8; ++k) sums[0] += sums[k];
  return sums[0][0];
}

}  // namespace

double memory_bandwidth() {
  constexpr size_t n = size_t{1} << 25;  // 128 MiB per stream
  auto x = recycler().get(n), y = recycler().get(n), z = recycler().get(n);
  std::fill_n(x.get(), n, 1.0f);
  std::fill_n(y.get(), n, 2.0f);
  std::fill_n(z.get(), n, 3.0f);
  volatile float sink = 0;
  double read = best_seconds(7, [&] { sink = read_all(x.get(), n); });
  double triad = best_seconds(7, [&] {
    for (size_t i = 0; i < n; i += kLanes) stream(z.get() + i, load(x.get() + i) * 3.0f + load(y.get() + i));
#if defined(__SSE2__)
    _mm_sfence();
#endif
  });
  (void)sink;
  double bandwidth = std::max(double(n * sizeof(float)) / read, double(3 * n * sizeof(float)) / triad);
  record("memory bandwidth (B)", bandwidth / 1e9, "GB/s");
  return bandwidth;
}

double l2_bandwidth() {
  constexpr size_t n = 65536;
  constexpr int repeats = 200;
  auto x = recycler().get(n), y = recycler().get(n);
  std::fill_n(x.get(), n, 1.0f);
  std::fill_n(y.get(), n, 2.0f);
  double seconds = best_seconds(20, [&] {
    for (int r = 0; r < repeats; ++r) {
      float* to = y.get();
      const float* from = x.get();
      for (size_t i = 0; i < n; i += 4 * kLanes)
        for (size_t k = 0; k < 4; ++k) *reinterpret_cast<Vector*>(to + i + k * kLanes) = load(from + i + k * kLanes);
      asm volatile("" ::: "memory");
    }
  });
  double bandwidth = double(repeats) * 2 * n * sizeof(float) / seconds;
  record("L2 bandwidth (B_L2)", bandwidth / 1e9, "GB/s");
  return bandwidth;
}

}  // namespace bench
