// Hand-written: sixteen counters in a vector, four vectors in flight.
#include <cstring>
#include <initializer_list>

#include "random/random.h"

namespace {

typedef uint32_t Words __attribute__((vector_size(64)));
constexpr size_t kLanes = 16, kVectors = 4;

inline Words rotated(Words x, int by) { return x << by | x >> (32 - by); }

inline void four_rounds(Words& x0, Words& x1, int a, int b, int c, int d) {
  for (const int by : {a, b, c, d}) {
    x0 += x1;
    x1 = rotated(x1, by) ^ x0;
  }
}

inline Words bits(uint32_t k0, uint32_t k1, Words counter) {
  const uint32_t k2 = k0 ^ k1 ^ 0x1bd11bda;
  Words x0 = Words{} + k0, x1 = counter + k1;
  four_rounds(x0, x1, 13, 15, 26, 6);
  x0 += k1, x1 += k2 + 1;
  four_rounds(x0, x1, 17, 29, 16, 24);
  x0 += k2, x1 += k0 + 2;
  four_rounds(x0, x1, 13, 15, 26, 6);
  x0 += k0, x1 += k1 + 3;
  four_rounds(x0, x1, 17, 29, 16, 24);
  x0 += k1, x1 += k2 + 4;
  four_rounds(x0, x1, 13, 15, 26, 6);
  x0 += k2, x1 += k0 + 5;
  return x0 ^ x1;
}

inline void store_uniform(Words word, float* out) {
  word = word >> 9 | 0x3f800000u;
  float numbers[kLanes];
  std::memcpy(numbers, &word, sizeof numbers);
  for (float& x : numbers) x -= 1.0f;
  std::memcpy(out, numbers, sizeof numbers);
}

}  // namespace

void uniform_threefry(uint32_t k0, uint32_t k1, float* out, size_t n) {
  Words counter;
  for (size_t l = 0; l < kLanes; ++l) counter[l] = uint32_t(l);
  size_t i = 0;
  for (; i + kVectors * kLanes <= n; i += kVectors * kLanes) {
    Words word[kVectors];
    for (size_t v = 0; v < kVectors; ++v) word[v] = bits(k0, k1, counter + uint32_t(v * kLanes));
    for (size_t v = 0; v < kVectors; ++v) store_uniform(word[v], out + i + v * kLanes);
    counter += uint32_t(kVectors * kLanes);
  }
  for (; i < n; i += kLanes) {
    float last[kLanes];
    store_uniform(bits(k0, k1, counter), last);
    std::memcpy(out + i, last, (n - i < kLanes ? n - i : kLanes) * sizeof(float));
    counter += uint32_t(kLanes);
  }
}
