#include <algorithm>

#include "heat/heat.h"

namespace {

void step(const float* __restrict from, float* __restrict to, int64_t n) {
  std::fill_n(to, n, 0.0f);
  for (int64_t i = 1; i + 1 < n; ++i) {
    const float* u = from + i * n;
    float* v = to + i * n;
    v[0] = v[n - 1] = 0;
    for (int64_t j = 1; j + 1 < n; ++j)
      v[j] = u[j] + kConductivity * (u[j - n] + u[j + n] + u[j - 1] + u[j + 1] - 4 * u[j]);
  }
  std::fill_n(to + (n - 1) * n, n, 0.0f);
}

}  // namespace

void heat_plain(const float* from, float* to, float* spare, int64_t n, int64_t steps) {
  // The last step writes `to`.
  for (int64_t i = 0; i < steps; ++i) {
    float* next = (steps - i) % 2 == 1 ? to : spare;
    step(from, next, n);
    from = next;
  }
}
