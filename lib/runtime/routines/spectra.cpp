// Drivers of eigenvalues and singular values: the matrices of a batch on several threads.
#include "runtime/routines/spectra.h"

#include <algorithm>

#include "runtime/routines/driver.h"

namespace calque::runtime {

using primitives::RoutineFlag;

template <class T>
void eigh(const RoutineRef& r, void* const* pointers) {
  using R = typename RealOf<T>::type;
  const Batch batch(r.arguments[0].shape);
  const int64_t n = batch.rows;
  if (n == 0) return;
  const auto* a = static_cast<const T*>(pointers[0]);
  auto* w = static_cast<R*>(pointers[1]);
  T* v = (r.flags & RoutineFlag::vectors) != 0 ? static_cast<T*>(pointers[2]) : nullptr;
  const double operations = 10 * static_cast<double>(batch.elements()) * static_cast<double>(n);
  in_parallel(batch.count, grain_of(operations), [&](int64_t first, int64_t last) {
    const int64_t before = first * batch.elements();
    spectral_routines<T>().eigh(a + before, n, last - first, w + first * n, v == nullptr ? nullptr : v + before);
  });
}

template <class T>
void svd(const RoutineRef& r, void* const* pointers) {
  using R = typename RealOf<T>::type;
  const Batch batch(r.arguments[0].shape);
  if (batch.elements() == 0) return;
  const int64_t steps = std::min(batch.rows, batch.columns);
  const bool with_vectors = (r.flags & RoutineFlag::vectors) != 0;
  const auto* a = static_cast<const T*>(pointers[0]);
  T* u = with_vectors ? static_cast<T*>(pointers[1]) : nullptr;
  auto* s = static_cast<R*>(pointers[with_vectors ? 2 : 1]);
  T* vh = with_vectors ? static_cast<T*>(pointers[3]) : nullptr;
  const double operations = 20 * static_cast<double>(batch.elements()) * static_cast<double>(steps);
  in_parallel(batch.count, grain_of(operations), [&](int64_t first, int64_t last) {
    spectral_routines<T>().svd(a + first * batch.elements(), batch.rows, batch.columns, last - first,
                               with_vectors ? u + first * batch.rows * steps : nullptr, s + first * steps,
                               with_vectors ? vh + first * steps * batch.columns : nullptr);
  });
}

template <class T>
void eig(const RoutineRef& r, void* const* pointers) {
  using C = std::complex<typename RealOf<T>::type>;
  const Batch batch(r.arguments[0].shape);
  const int64_t n = batch.rows;
  if (n == 0) return;
  const auto* a = static_cast<const T*>(pointers[0]);
  auto* w = static_cast<C*>(pointers[1]);
  auto* v = (r.flags & RoutineFlag::vectors) != 0 ? static_cast<C*>(pointers[2]) : nullptr;
  const double operations = 25 * static_cast<double>(batch.elements()) * static_cast<double>(n);
  in_parallel(batch.count, grain_of(operations), [&](int64_t first, int64_t last) {
    const int64_t before = first * batch.elements();
    eig_routines<T>().eig(a + before, n, last - first, w + first * n, v == nullptr ? nullptr : v + before);
  });
}

template void eigh<float>(const RoutineRef&, void* const*);
template void eigh<double>(const RoutineRef&, void* const*);
template void eigh<std::complex<float>>(const RoutineRef&, void* const*);
template void eigh<std::complex<double>>(const RoutineRef&, void* const*);
template void svd<float>(const RoutineRef&, void* const*);
template void svd<double>(const RoutineRef&, void* const*);
template void svd<std::complex<float>>(const RoutineRef&, void* const*);
template void svd<std::complex<double>>(const RoutineRef&, void* const*);
template void eig<float>(const RoutineRef&, void* const*);
template void eig<double>(const RoutineRef&, void* const*);
template void eig<std::complex<float>>(const RoutineRef&, void* const*);
template void eig<std::complex<double>>(const RoutineRef&, void* const*);

}  // namespace calque::runtime
