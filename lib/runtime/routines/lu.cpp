#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>
#include <vector>

#include "runtime/routines/dense.h"
#include "runtime/routines/driver.h"

namespace calque::runtime {
namespace {

// Columns of a panel, which one thread factors.
constexpr int64_t kPanelColumns = 64;

/// Right-looking: a panel, the exchanges of rows that it asks for in the columns beside it, the rows right of its
/// diagonal block, then what is left, in fixed strips.
template <class T>
void factor(T* a, int64_t rows, int64_t columns, int32_t* order) {
  const DenseRoutines<T>& dense = dense_routines<T>();
  std::iota(order, order + rows, 0);
  const int64_t steps = std::min(rows, columns);
  std::vector<T> panel(static_cast<size_t>(rows * std::min(kPanelColumns, steps)));
  std::vector<int32_t> pivots(static_cast<size_t>(std::min(kPanelColumns, steps)));
  for (int64_t k = 0; k < steps; k += kPanelColumns) {
    const int64_t width = std::min(kPanelColumns, steps - k), height = rows - k, right = k + width, below = k + width;
    for (int64_t i = 0; i < height; ++i)
      for (int64_t c = 0; c < width; ++c) panel[static_cast<size_t>(c * height + i)] = a[(k + i) * columns + k + c];
    dense.lu_panel(panel.data(), height, width, height, pivots.data());
    for (int64_t i = 0; i < width; ++i) std::swap(order[k + i], order[k + pivots[static_cast<size_t>(i)]]);
    const auto exchange = [&](int64_t first, int64_t last) {
      for (int64_t i = 0; i < width; ++i) {
        const int64_t other = pivots[static_cast<size_t>(i)];
        if (other == i) continue;
        T* const row = a + (k + i) * columns;
        std::swap_ranges(row + first, row + last, a + (k + other) * columns + first);
      }
    };
    exchange(0, k);
    for (int64_t i = 0; i < height; ++i)
      for (int64_t c = 0; c < width; ++c) a[(k + i) * columns + k + c] = panel[static_cast<size_t>(c * height + i)];
    const T* const diagonal = a + k * columns + k;
    in_parallel((columns - right + kPanel - 1) / kPanel, 1, [&](int64_t first, int64_t last) {
      for (int64_t s = first; s < last; ++s) {
        const int64_t column = right + s * kPanel, count = std::min(kPanel, columns - column);
        exchange(column, column + count);
        dense.solve(diagonal, width, columns, a + k * columns + column, count, columns, true, false, true);
      }
    });
    if (right >= columns) continue;
    in_parallel((rows - below + kPanel - 1) / kPanel, 1, [&](int64_t first, int64_t last) {
      for (int64_t s = first; s < last; ++s) {
        const int64_t row = below + s * kPanel, count = std::min(kPanel, rows - row);
        dense.subtract_plain_product(a + row * columns + right, columns, a + row * columns + k, columns,
                                     a + k * columns + right, columns, count, columns - right, width);
      }
    });
  }
}

}  // namespace

template <class T>
void lu(const RoutineRef& r, void* const* pointers) {
  const Batch batch(r.arguments[0].shape);
  const auto* from = static_cast<const T*>(pointers[0]);
  auto* to = static_cast<T*>(pointers[1]);
  auto* order = static_cast<int32_t*>(pointers[2]);
  if (batch.elements() == 0) {
    for (int64_t b = 0; b < batch.count; ++b) std::iota(order + b * batch.rows, order + (b + 1) * batch.rows, 0);
    return;
  }
  std::memcpy(to, from, static_cast<size_t>(batch.count * batch.elements()) * sizeof(T));
  const double operations =
      static_cast<double>(batch.elements()) * static_cast<double>(std::min(batch.rows, batch.columns));
  in_parallel(batch.count, grain_of(operations), [&](int64_t first, int64_t last) {
    for (int64_t b = first; b < last; ++b)
      factor(to + b * batch.elements(), batch.rows, batch.columns, order + b * batch.rows);
  });
}

template void lu<float>(const RoutineRef&, void* const*);
template void lu<double>(const RoutineRef&, void* const*);

}  // namespace calque::runtime
