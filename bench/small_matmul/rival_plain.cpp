#include <cstring>

#include "small_matmul/small_matmul.h"

namespace {

/// Blocks of four rows of c stay in registers.
template <int N>
void product(const float* a, const float* b, float* c) {
  constexpr int kLanes = N < 16 ? N : 16, kVectors = N / kLanes, kRows = 4;
  typedef float Vector __attribute__((vector_size(kLanes * sizeof(float)), aligned(4)));
  for (int i = 0; i < N; i += kRows) {
    for (int v = 0; v < kVectors; ++v) {
      Vector sum[kRows] = {};
#pragma GCC unroll 16
      for (int k = 0; k < N; ++k) {
        Vector row = *reinterpret_cast<const Vector*>(b + k * N + v * kLanes);
#pragma GCC unroll 4
        for (int r = 0; r < kRows; ++r) sum[r] += a[(i + r) * N + k] * row;
      }
      for (int r = 0; r < kRows; ++r) *reinterpret_cast<Vector*>(c + (i + r) * N + v * kLanes) = sum[r];
    }
  }
}

template <int N>
Products products(int64_t count) {
  return [count](const float* a, const float* b, float* c) {
    for (int64_t i = 0; i < count; ++i) product<N>(a + i * N * N, b + i * N * N, c + i * N * N);
  };
}

}  // namespace

Products products_plain(int64_t count, int64_t n) {
  switch (n) {
    case 4:
      return products<4>(count);
    case 8:
      return products<8>(count);
    case 16:
      return products<16>(count);
    case 32:
      return products<32>(count);
    default:
      return n == 64 ? products<64>(count) : Products{};
  }
}
