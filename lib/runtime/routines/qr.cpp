#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "runtime/routines/dense.h"
#include "runtime/routines/driver.h"

namespace calque::runtime {
namespace {

// Columns of a panel, whose reflections are applied at once.
constexpr int64_t kPanelColumns = 32;

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
void factor(const T* a, int64_t rows, int64_t columns, T* q, T* r) {
  const DenseRoutines<T>& dense = dense_routines<T>();
  const int64_t steps = std::min(rows, columns), panels = (steps + kPanelColumns - 1) / kPanelColumns;
  const T scale = scale_of(a, rows * columns);
  std::vector<T> f(static_cast<size_t>(rows * columns)), v(static_cast<size_t>(rows * steps)),
      t(static_cast<size_t>(panels * kPanelColumns * kPanelColumns)), u(static_cast<size_t>(rows * steps));
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t c = 0; c < columns; ++c) f[static_cast<size_t>(c * rows + i)] = a[i * columns + c] * scale;
  const auto width_of = [&](int64_t panel) { return std::min(kPanelColumns, steps - panel * kPanelColumns); };
  const auto v_of = [&](int64_t panel) { return v.data() + panel * kPanelColumns * rows; };
  const auto t_of = [&](int64_t panel) { return t.data() + panel * kPanelColumns * kPanelColumns; };
  /// Applies a panel's reflections to columns of c from `first` on.
  const auto reflect = [&](int64_t panel, T* c, int64_t first, int64_t end, bool transpose) {
    const int64_t k = panel * kPanelColumns, width = width_of(panel);
    in_parallel((end - first + kPanel - 1) / kPanel, 1, [&](int64_t begin, int64_t last) {
      std::vector<T> space(static_cast<size_t>(2 * width * kPanel));
      for (int64_t s = begin; s < last; ++s) {
        const int64_t column = first + s * kPanel;
        dense.reflect(v_of(panel), t_of(panel), rows - k, width, c + column * rows + k, std::min(kPanel, end - column),
                      rows, transpose, space.data());
      }
    });
  };
  for (int64_t p = 0; p < panels; ++p) {
    const int64_t k = p * kPanelColumns, width = width_of(p);
    dense.qr_panel(f.data() + k * rows + k, rows - k, width, rows, v_of(p), t_of(p));
    reflect(p, f.data(), k + width, columns, true);
  }
  for (int64_t i = 0; i < steps; ++i) u[static_cast<size_t>(i * rows + i)] = T(1);
  // Columns before a panel's are those of the identity when its reflections are applied.
  for (int64_t p = panels; p-- > 0;) reflect(p, u.data(), p * kPanelColumns, steps, false);
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t c = 0; c < steps; ++c) q[i * steps + c] = u[static_cast<size_t>(c * rows + i)];
  for (int64_t i = 0; i < steps; ++i)
    for (int64_t c = 0; c < columns; ++c)
      r[i * columns + c] = c < i ? T(0) : f[static_cast<size_t>(c * rows + i)] / scale;
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
      factor(a + b * batch.elements(), batch.rows, batch.columns, q + b * batch.rows * steps,
             r + b * steps * batch.columns);
  });
}

template void qr<float>(const RoutineRef&, void* const*);
template void qr<double>(const RoutineRef&, void* const*);

}  // namespace calque::runtime
