#include <algorithm>
#include <cstring>
#include <limits>

#include "runtime/routines/dense.h"
#include "runtime/routines/driver.h"

namespace calque::runtime {

/// Right-looking: a panel's diagonal block, the rows below it, then what is left. The strips are independent of each
/// other and fixed, so threads do not change a bit.
template <class T>
bool factor_cholesky(T* a, int64_t n) {
  const DenseRoutines<T>& dense = dense_routines<T>();
  if (n <= 2 * kPanel) return dense.cholesky(a, n, n);
  for (int64_t k = 0; k < n; k += kPanel) {
    const int64_t width = std::min(kPanel, n - k), below = k + width;
    T* const diagonal = a + k * n + k;
    if (!dense.cholesky(diagonal, width, n)) return false;
    const int64_t strips = (n - below + kPanel - 1) / kPanel;
    const auto rows_of = [&](int64_t strip) { return std::min(kPanel, n - below - strip * kPanel); };
    const auto panel_at = [&](int64_t strip) { return a + (below + strip * kPanel) * n + k; };
    in_parallel(strips, 1, [&](int64_t first, int64_t last) {
      for (int64_t s = first; s < last; ++s) dense.solve_right(diagonal, width, n, panel_at(s), rows_of(s), n);
    });
    // Long strips first: the last ones fill the gaps between threads.
    in_parallel(strips, 1, [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i) {
        const int64_t s = strips - 1 - i;
        T* const row = a + (below + s * kPanel) * n + below;
        if (s > 0) dense.subtract_product(row, n, panel_at(s), n, panel_at(0), n, rows_of(s), s * kPanel, width, false);
        dense.subtract_product(row + s * kPanel, n, panel_at(s), n, panel_at(s), n, rows_of(s), rows_of(s), width,
                               true);
      }
    });
  }
  return true;
}

template bool factor_cholesky<float>(float*, int64_t);
template bool factor_cholesky<double>(double*, int64_t);

template <class T>
void cholesky(const RoutineRef& r, void* const* pointers) {
  const Batch batch(r.arguments[0].shape);
  const int64_t n = batch.rows;
  const auto* from = static_cast<const T*>(pointers[0]);
  auto* to = static_cast<T*>(pointers[1]);
  const double operations = static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(n) / 3;
  in_parallel(batch.count, grain_of(operations), [&](int64_t first, int64_t last) {
    for (int64_t b = first; b < last; ++b) {
      const T* const a = from + b * n * n;
      T* const l = to + b * n * n;
      for (int64_t i = 0; i < n; ++i) {
        std::memcpy(l + i * n, a + i * n, static_cast<size_t>(i + 1) * sizeof(T));
        std::fill(l + i * n + i + 1, l + (i + 1) * n, T(0));
      }
      if (factor_cholesky(l, n)) continue;
      for (int64_t i = 0; i < n; ++i) {
        std::fill(l + i * n, l + i * n + i + 1, std::numeric_limits<T>::quiet_NaN());
        std::fill(l + i * n + i + 1, l + (i + 1) * n, T(0));
      }
    }
  });
}

template void cholesky<float>(const RoutineRef&, void* const*);
template void cholesky<double>(const RoutineRef&, void* const*);

}  // namespace calque::runtime
