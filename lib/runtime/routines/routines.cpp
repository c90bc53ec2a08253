#include "runtime/routines/routines.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <type_traits>

#include "calque/ir/errors.h"

#include "codegen/codegen.h"
#include "ir/fork.h"
#include "runtime/process/parallel.h"
#include "runtime/routines/dense.h"

namespace calque::runtime {

namespace dense_v2 {
extern const DenseRoutines<float> kFloats;
extern const DenseRoutines<double> kDoubles;
}  // namespace dense_v2
#ifdef __x86_64__
namespace dense_v3 {
extern const DenseRoutines<float> kFloats;
extern const DenseRoutines<double> kDoubles;
}  // namespace dense_v3
namespace dense_v4 {
extern const DenseRoutines<float> kFloats;
extern const DenseRoutines<double> kDoubles;
}  // namespace dense_v4
#endif

template <class T>
const DenseRoutines<T>& dense_routines() {
  const auto of = [](const DenseRoutines<float>& floats,
                     const DenseRoutines<double>& doubles) -> const DenseRoutines<T>& {
    if constexpr (std::is_same_v<T, float>) {
      return (void)doubles, floats;
    } else {
      return (void)floats, doubles;
    }
  };
#ifdef __x86_64__
  static const int bits = codegen::target_limits({}).vector_bits;
  if (bits >= 512 && __builtin_cpu_supports("x86-64-v4")) return of(dense_v4::kFloats, dense_v4::kDoubles);
  if (bits >= 256 && __builtin_cpu_supports("x86-64-v3")) return of(dense_v3::kFloats, dense_v3::kDoubles);
#endif
  return of(dense_v2::kFloats, dense_v2::kDoubles);
}

template const DenseRoutines<float>& dense_routines<float>();
template const DenseRoutines<double>& dense_routines<double>();

namespace {

using kernel::RoutineRef;
using primitives::Routine;
using primitives::RoutineFlag;

/// Runs work(first, last) over chunks of [0, count) on several threads. What a chunk computes must not depend on where
/// it begins.
template <class Work>
void in_parallel(int64_t count, int64_t grain, const Work& work) {
  parallel_for(
      nullptr, count, grain,
      [](void* environment, int64_t begin, int64_t end) { (*static_cast<const Work*>(environment))(begin, end); },
      const_cast<Work*>(&work));
}

/// Matrices of fewer operations than this are not worth a task of their own.
constexpr double kTaskOperations = 1 << 16;
int64_t grain_of(double operations) {
  return std::max<int64_t>(1, static_cast<int64_t>(kTaskOperations / std::max(operations, 1.0)));
}

struct Batch {
  int64_t count = 1, rows = 0, columns = 0;
  explicit Batch(const Shape& shape) {
    const size_t rank = shape.size();
    for (size_t d = 0; d + 2 < rank; ++d) count *= shape[d];
    rows = shape[rank - 2];
    columns = shape[rank - 1];
  }
  int64_t elements() const { return rows * columns; }
};

// Larger matrices are factored in panels of this many columns, and updated in strips of as many rows.
constexpr int64_t kPanel = 128;

/// Right-looking: a panel's diagonal block, the rows below it, then what is left. The strips are independent of each
/// other and fixed, so threads do not change a bit.
template <class T>
bool factor(T* a, int64_t n) {
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
      if (factor(l, n)) continue;
      for (int64_t i = 0; i < n; ++i) {
        std::fill(l + i * n, l + i * n + i + 1, std::numeric_limits<T>::quiet_NaN());
        std::fill(l + i * n + i + 1, l + (i + 1) * n, T(0));
      }
    }
  });
}

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

template <class T>
void run(const RoutineRef& r, void* const* pointers) {
  switch (r.routine) {
    case Routine::cholesky:
      return cholesky<T>(r, pointers);
    case Routine::triangular_solve:
      return triangular_solve<T>(r, pointers);
  }
}

}  // namespace

void run_routine(const RoutineRef& r, void* const* pointers) {
  switch (r.arguments[0].dtype) {
    case DType::f32:
      return run<float>(r, pointers);
    case DType::f64:
      return run<double>(r, pointers);
    default:
      throw CompileError("routine " + std::string(primitives::kRoutineNames[static_cast<size_t>(r.routine)]) +
                         ": is not there for " + to_string(r.arguments[0]));
  }
}

}  // namespace calque::runtime
