#include <algorithm>
#include <cmath>
#include <limits>

#include "runtime/routines/dense.h"
#include "runtime/routines/driver.h"

namespace calque::runtime {
namespace {

// Columns of a panel, whose reflections are applied at once.
constexpr int64_t kQrColumns = 32;

/// A power of two by which the numbers are multiplied so that their squares are numbers and do not vanish; NaN and
/// infinities have none.
template <class T>
T scale_of(const T* a, int64_t count) {
  constexpr int kFar = std::numeric_limits<T>::max_exponent / 4;
  T most = 0;
  for (int64_t i = 0; i < count; ++i) most = std::max(most, std::abs(a[i]));
  if (!(most > 0) || !std::isfinite(most)) return T(1);
  const int exponent = std::ilogb(most);
  return std::abs(exponent) < kFar ? T(1) : std::ldexp(T(1), -std::clamp(exponent, -4 * kFar + 4, 4 * kFar - 4));
}

/// The panels of a column-major matrix, from left to right, then those of q from right to left.
template <class T>
void factor_qr(const T* a, int64_t rows, int64_t columns, T* q, T* r) {
  const DenseRoutines<T>& dense = dense_routines<T>();
  const int64_t steps = std::min(rows, columns), panels = (steps + kQrColumns - 1) / kQrColumns;
  const T scale = scale_of(a, rows * columns);
  const auto f = space_of<T>(rows * columns), v = space_of<T>(rows * steps), u = space_of<T>(rows * steps),
             t = space_of<T>(panels * kQrColumns * kQrColumns);
  dense.transpose(a, rows, columns, columns, f.get(), rows);
  if (scale != T(1)) std::for_each_n(f.get(), rows * columns, [scale](T& x) { x *= scale; });
  const auto width_of = [&](int64_t panel) { return std::min(kQrColumns, steps - panel * kQrColumns); };
  const auto v_of = [&](int64_t panel) { return v.get() + panel * kQrColumns * rows; };
  const auto t_of = [&](int64_t panel) { return t.get() + panel * kQrColumns * kQrColumns; };
  /// Applies a panel's reflections to columns of c from `first` on.
  const auto reflect = [&](int64_t panel, T* c, int64_t first, int64_t end, bool transpose) {
    const int64_t k = panel * kQrColumns, width = width_of(panel);
    in_parallel((end - first + kPanel - 1) / kPanel, 1, [&](int64_t begin, int64_t last) {
      const auto space = space_of<T>(2 * width * kPanel);
      for (int64_t s = begin; s < last; ++s) {
        const int64_t column = first + s * kPanel;
        dense.reflect(v_of(panel), t_of(panel), rows - k, width, c + column * rows + k, std::min(kPanel, end - column),
                      rows, transpose, space.get());
      }
    });
  };
  for (int64_t p = 0; p < panels; ++p) {
    const int64_t k = p * kQrColumns, width = width_of(p);
    dense.qr_panel(f.get() + k * rows + k, rows - k, width, rows, v_of(p), t_of(p));
    reflect(p, f.get(), k + width, columns, true);
  }
  std::fill_n(u.get(), rows * steps, T(0));
  for (int64_t i = 0; i < steps; ++i) u[static_cast<size_t>(i * rows + i)] = T(1);
  // Columns before a panel's are those of the identity when its reflections are applied.
  for (int64_t p = panels; p-- > 0;) reflect(p, u.get(), p * kQrColumns, steps, false);
  dense.transpose(u.get(), steps, rows, rows, q, steps);
  // Panels leave zeros below the diagonal.
  dense.transpose(f.get(), columns, steps, rows, r, columns);
  if (scale != T(1)) std::for_each_n(r, steps * columns, [scale](T& x) { x /= scale; });
}

}  // namespace

template <class T>
void qr(const RoutineRef& routine, void* const* pointers) {
  const Batch batch(routine.arguments[0].shape);
  if (batch.elements() == 0) return;
  const int64_t steps = std::min(batch.rows, batch.columns);
  const auto* a = static_cast<const T*>(pointers[0]);
  auto* q = static_cast<T*>(pointers[1]);
  auto* r = static_cast<T*>(pointers[2]);
  const double operations = 4 * static_cast<double>(batch.elements()) * static_cast<double>(steps);
  in_parallel(batch.count, grain_of(operations), [&](int64_t first, int64_t last) {
    for (int64_t b = first; b < last; ++b)
      factor_qr(a + b * batch.elements(), batch.rows, batch.columns, q + b * batch.rows * steps,
                r + b * steps * batch.columns);
  });
}

template void qr<float>(const RoutineRef&, void* const*);
template void qr<double>(const RoutineRef&, void* const*);

}  // namespace calque::runtime
