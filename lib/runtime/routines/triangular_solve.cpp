#include <algorithm>
#include <cstring>

#include "runtime/routines/dense.h"
#include "runtime/routines/driver.h"

namespace calque::runtime {

using primitives::RoutineFlag;

template <class T>
void triangular_solve(const RoutineRef& r, void* const* pointers) {
  const Batch matrices(r.arguments[0].shape), sides(r.arguments[1].shape);
  const int64_t n = matrices.rows, columns = sides.columns;
  const auto* a = static_cast<const T*>(pointers[0]);
  const auto* b = static_cast<const T*>(pointers[1]);
  auto* x = static_cast<T*>(pointers[2]);
  if (sides.elements() != 0) std::memcpy(x, b, static_cast<size_t>(sides.count * sides.elements()) * sizeof(T));
  if (n == 0 || columns == 0) return;
  const bool lower = (r.flags & RoutineFlag::lower) != 0, transpose = (r.flags & RoutineFlag::transpose) != 0,
             unit = (r.flags & RoutineFlag::unit_diagonal) != 0;
  const DenseRoutines<T>& dense = dense_routines<T>();
  // Columns are independent of each other: strips of them are tasks, whose bounds are fixed.
  const int64_t strips = (columns + kPanel - 1) / kPanel;
  const double operations =
      static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(std::min(columns, kPanel));
  in_parallel(matrices.count * strips, grain_of(operations), [&](int64_t first, int64_t last) {
    for (int64_t t = first; t < last; ++t) {
      const int64_t matrix = t / strips, column = t % strips * kPanel;
      dense.solve(a + matrix * n * n, n, n, x + matrix * n * columns + column, std::min(kPanel, columns - column),
                  columns, lower, transpose, unit);
    }
  });
}

template void triangular_solve<float>(const RoutineRef&, void* const*);
template void triangular_solve<double>(const RoutineRef&, void* const*);

}  // namespace calque::runtime
