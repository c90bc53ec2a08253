#include <algorithm>
#include <chrono>

#include "math/routines.h"

double clock_frequency() {
  using Clock = std::chrono::steady_clock;
  constexpr int steps = 1 << 20;
  double best = 1e30;
  for (int attempt = 0; attempt < 20; ++attempt) {
    long x = 0, one = 1;
    const auto start = Clock::now();
    for (int i = 0; i < steps; i += 16) {
      for (int k = 0; k < 16; ++k) {
        x += one;
        asm volatile("" : "+r"(x), "+r"(one));
      }
    }
    best = std::min(best, std::chrono::duration<double>(Clock::now() - start).count());
  }
  return steps / best;
}
