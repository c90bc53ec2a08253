#pragma once
// What the drivers of routines share: batches of matrices, and tasks on several threads whose bounds are fixed.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <new>

#include "calque/ir/any_array.h"
#include "calque/ir/errors.h"

#include "kernel/ir/program.h"
#include "runtime/memory/workspace.h"
#include "runtime/process/parallel.h"

namespace calque::runtime {

using kernel::RoutineRef;

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
inline constexpr double kTaskOperations = 1 << 16;
inline int64_t grain_of(double operations) {
  return std::max<int64_t>(1, static_cast<int64_t>(kTaskOperations / std::max(operations, 1.0)));
}

/// Room for numbers, not initialized, at the same alignment in every call: loops of vectors begin with the elements
/// before the first aligned one, and so the order of sums depends on addresses. Throws std::bad_alloc.
struct FreeSpace {
  void operator()(void* space) const { ::operator delete(space, std::align_val_t{64}); }
};
template <class T>
std::unique_ptr<T[], FreeSpace> space_of(int64_t count) {
  return std::unique_ptr<T[], FreeSpace>(
      static_cast<T*>(::operator new(static_cast<size_t>(count) * sizeof(T), std::align_val_t{64})));
}

/// Room for elements, from the pool of arrays: pages of fresh memory cost as much as a pass over a long row.
template <class E>
class Space {
 public:
  /// Throws OutOfMemory.
  explicit Space(int64_t count) try
      : storage_(calque::detail::Storage::allocate(static_cast<size_t>(count) * sizeof(E))) {
  } catch (const DeviceError&) {
    throw OutOfMemory("workspace", static_cast<size_t>(count) * sizeof(E));
  }
  E* get() const { return static_cast<E*>(storage_.data()); }

 private:
  calque::detail::Storage storage_;
};

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
inline constexpr int64_t kPanel = 128;

/// The drivers: dense row-major arguments, then results.
template <class T>
void cholesky(const RoutineRef& r, void* const* pointers);
template <class T>
void triangular_solve(const RoutineRef& r, void* const* pointers);
template <class T>
void lu(const RoutineRef& r, void* const* pointers);
template <class T>
void qr(const RoutineRef& r, void* const* pointers);
/// Of any T: floats, doubles, complex numbers.
template <class T>
void eigh(const RoutineRef& r, void* const* pointers);
template <class T>
void svd(const RoutineRef& r, void* const* pointers);
template <class T>
void eig(const RoutineRef& r, void* const* pointers);
/// Complex numbers are pairs of T, of one dimension more.
template <class T>
void fft(const RoutineRef& r, void* const* pointers);
/// Of complex matrices with parts of type R.
template <class R>
void run_complex(const RoutineRef& r, void* const* pointers);

/// Of keys of any real dtype.
void sort(const RoutineRef& r, void* const* pointers);

/// Replaces the lower triangle of a, n x n, by its Cholesky factor. False if a is not positive definite.
template <class T>
bool factor_cholesky(T* a, int64_t n);

}  // namespace calque::runtime
