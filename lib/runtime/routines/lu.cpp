#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>
#include <vector>

#include "runtime/routines/dense.h"
#include "runtime/routines/driver.h"

namespace calque::runtime {
namespace {

/// Columns of a panel, which one thread factors, and rows or columns of the strips that are updated by it. Wide ones
/// leave fewer passes over what is left, narrow ones more work for other threads.
struct LuBlocks {
  int64_t panel, strip;
};
LuBlocks blocks_of(int64_t steps) { return steps < 1024 ? LuBlocks{32, 128} : LuBlocks{128, 256}; }

/// Right-looking: a panel, the exchanges of rows that it asks for in the columns beside it, the rows right of its
/// diagonal block, then what is left, in fixed strips.
template <class T>
void factor_lu(T* a, int64_t rows, int64_t columns, int32_t* order) {
  const DenseRoutines<T>& dense = dense_routines<T>();
  std::iota(order, order + rows, 0);
  const int64_t steps = std::min(rows, columns);
  const auto [panel_columns, strip] = blocks_of(steps);
  const auto panel = space_of<T>(rows * std::min(panel_columns, steps));
  std::vector<int32_t> pivots(static_cast<size_t>(std::min(panel_columns, steps)));
  for (int64_t k = 0; k < steps; k += panel_columns) {
    const int64_t width = std::min(panel_columns, steps - k), height = rows - k, right = k + width, below = k + width;
    dense.transpose(a + k * columns + k, height, width, columns, panel.get(), height);
    dense.lu_panel(panel.get(), height, width, height, pivots.data());
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
    dense.transpose(panel.get(), width, height, height, a + k * columns + k, columns);
    const T* const diagonal = a + k * columns + k;
    in_parallel((columns - right + strip - 1) / strip, 1, [&](int64_t first, int64_t last) {
      for (int64_t s = first; s < last; ++s) {
        const int64_t column = right + s * strip, count = std::min(strip, columns - column);
        exchange(column, column + count);
        dense.solve(diagonal, width, columns, a + k * columns + column, count, columns, true, false, true);
      }
    });
    if (right >= columns) continue;
    in_parallel((rows - below + strip - 1) / strip, 1, [&](int64_t first, int64_t last) {
      for (int64_t s = first; s < last; ++s) {
        const int64_t row = below + s * strip, count = std::min(strip, rows - row);
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
      factor_lu(to + b * batch.elements(), batch.rows, batch.columns, order + b * batch.rows);
  });
}

template void lu<float>(const RoutineRef&, void* const*);
template void lu<double>(const RoutineRef&, void* const*);

}  // namespace calque::runtime
