#pragma once
// Eigenvalues and singular values on one thread, compiled from Eigen's templates once for each level of instruction
// sets as those of dense.h are.
#include <complex>
#include <cstdint>

namespace calque::runtime {

template <class T>
struct RealOf {
  using type = T;
};
template <class R>
struct RealOf<std::complex<R>> {
  using type = R;
};

/// Batches of dense row-major matrices of T, as the primitives of those names define them. Without vectors the pointers
/// to them are null.
template <class T>
struct SpectralRoutines {
  using R = typename RealOf<T>::type;
  /// Of n x n matrices.
  void (*eigh)(const T* a, int64_t n, int64_t count, R* w, T* v);
  /// Of rows x columns matrices.
  void (*svd)(const T* a, int64_t rows, int64_t columns, int64_t count, T* u, R* s, T* vh);
};

/// The same of general matrices, whose values and vectors are complex.
template <class T>
struct EigRoutines {
  using C = std::complex<typename RealOf<T>::type>;
  void (*eig)(const T* a, int64_t n, int64_t count, C* w, C* v);
};

/// Those for the processor on which programs run (CALQUE_CPU included).
template <class T>
const SpectralRoutines<T>& spectral_routines();
template <>
const SpectralRoutines<float>& spectral_routines<float>();
template <>
const SpectralRoutines<double>& spectral_routines<double>();
template <>
const SpectralRoutines<std::complex<float>>& spectral_routines<std::complex<float>>();
template <>
const SpectralRoutines<std::complex<double>>& spectral_routines<std::complex<double>>();

template <class T>
const EigRoutines<T>& eig_routines();
template <>
const EigRoutines<float>& eig_routines<float>();
template <>
const EigRoutines<double>& eig_routines<double>();
template <>
const EigRoutines<std::complex<float>>& eig_routines<std::complex<float>>();
template <>
const EigRoutines<std::complex<double>>& eig_routines<std::complex<double>>();

}  // namespace calque::runtime
