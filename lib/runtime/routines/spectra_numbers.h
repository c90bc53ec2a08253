#pragma once
// What the routines of eigenvalues and singular values of one level share: their numbers, scales and phases.
// CALQUE_LEVEL and Eigen are defined as the names of that level.
#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>

#include <Eigen/Core>

#include "runtime/routines/spectra.h"

namespace calque::runtime::CALQUE_LEVEL {
namespace {

template <class T>
using Real = typename RealOf<T>::type;
template <class T>
using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;
template <class T>
using Map = Eigen::Map<Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>;
template <class T>
using ConstMap = Eigen::Map<const Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>;

template <class R>
constexpr R kNaN = std::numeric_limits<R>::quiet_NaN();

/// The greatest magnitude of a real or imaginary part; not finite if one is not.
template <class R>
R greatest_part(const R* parts, int64_t count) {
  R most = 0;
  for (int64_t i = 0; i < count; ++i) {
    const R size = std::abs(parts[i]);
    if (!(size <= std::numeric_limits<R>::max())) return kNaN<R>;
    most = std::max(most, size);
  }
  return most;
}
template <class T>
constexpr int64_t kParts = sizeof(T) / sizeof(Real<T>);
template <class T>
const Real<T>* parts_of(const T* x) {
  return reinterpret_cast<const Real<T>*>(x);
}

/// A power of two by which numbers are multiplied so that squares of the greatest are numbers and do not vanish.
template <class R>
R scale_of(R most) {
  constexpr int kFar = std::numeric_limits<R>::max_exponent / 4;
  if (!(most > 0)) return R(1);
  const int exponent = std::ilogb(most);
  return std::abs(exponent) < kFar ? R(1) : std::ldexp(R(1), -std::clamp(exponent, -4 * kFar + 4, 4 * kFar - 4));
}

/// Multiplies column k of v by the number of unit magnitude after which the first of its components of greatest
/// magnitude, but for a share of sqrt(eps), is real and positive. Returns that number.
template <class T>
T normalize_phase(Matrix<T>& v, int64_t k, Real<T> eps = std::numeric_limits<Real<T>>::epsilon()) {
  using R = Real<T>;
  const auto column = v.col(k);
  const R least = column.cwiseAbs().maxCoeff() * (1 - std::sqrt(eps));
  int64_t at = 0;
  while (at < v.rows() - 1 && !(std::abs(column[at]) >= least)) ++at;
  const R size = std::abs(column[at]);
  if (size == R(0)) return T(1);
  const T factor = Eigen::numext::conj(column[at]) / size;
  if (factor == T(1)) return factor;
  for (int64_t i = 0; i < v.rows(); ++i) v(i, k) = T(0) + v(i, k) * factor;
  v(at, k) = T(size);
  return factor;
}

}  // namespace
}  // namespace calque::runtime::CALQUE_LEVEL
