#pragma once
// What the primitives of eigenvalues and singular values share: vectors that are determined up to their sign or phase,
// the rotations of Jacobi's methods, and differences of values in derivatives.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "primitives/core/rule.h"
#include "primitives/linalg/matrix.h"
#include "primitives/linalg/paired.h"

namespace calque::primitives {

/// Whether the vectors are results, too.
inline constexpr AttributeSpec kVectorsAttribute{"vectors", AttributeKind::boolean};
bool has_vectors(const Attributes& attributes);

template <class W>
using RealPart = decltype(real_part(W{}));

/// Components of less than this share of the greatest magnitude are not those that fix a vector's phase: rounding does
/// not decide between equal ones.
template <class T>
RealPart<T> share_of_greatest() {
  return 1 - std::sqrt(std::numeric_limits<RealPart<T>>::epsilon());
}

/// The number by which a vector of elements of type T, computed in W, is multiplied so that the first of its components
/// of greatest magnitude is real and positive; `at` is set to its row.
template <class T, class W>
W phase_factor(const std::vector<W>& v, size_t& at) {
  RealPart<W> most = 0;
  for (const W& x : v) most = std::max(most, std::abs(x));
  at = 0;
  while (at < v.size() && !(std::abs(v[at]) >= RealPart<W>(share_of_greatest<T>()) * most)) ++at;
  if (at == v.size() || most == 0) return W(1);
  return conjugate(v[at]) / std::abs(v[at]);
}
/// Multiplies a vector by that number, and returns it.
template <class T, class W>
W normalize_phase(std::vector<W>& v) {
  size_t at = 0;
  const W factor = phase_factor<T>(v, at);
  if (factor == W(1)) return factor;
  const RealPart<W> size = std::abs(v[at]);
  for (W& x : v) x = W(0) + x * factor;
  v[at] = W(size);
  return factor;
}

template <class T>
bool is_all_finite(const T* x, size_t count) {
  return std::all_of(x, x + count, [](const T& e) {
    if constexpr (is_wide_complex<T>)
      return std::isfinite(e.real()) && std::isfinite(e.imag());
    else
      return std::isfinite(e);
  });
}

/// A rotation of two vectors x and y, x becoming c x - s phase y and y becoming s x + c phase y.
template <class W>
struct Rotation {
  using R = RealPart<W>;
  R c, s;
  W phase;

  /// That after which adjoint(x) y = 0 of vectors with |x|^2 = a, |y|^2 = b and adjoint(x) y = coupling before, whose
  /// magnitude is `size`, not 0.
  Rotation(R a, R b, const W& coupling, R size) : phase(conjugate(coupling) / size) {
    const R zeta = (b - a) / (2 * size);
    const R t = std::copysign(R(1), zeta) / (std::abs(zeta) + std::hypot(R(1), zeta));
    c = 1 / std::hypot(R(1), t);
    s = t * c;
  }
  void apply(W& x, W& y, const W& by) const {
    const W before = x, rotated = by * y;
    x = c * before - s * rotated;
    y = s * before + c * rotated;
  }
};

// More rounds of rotations than this do not converge; about ten do.
inline constexpr int kMostRounds = 100;

/// z, real or complex, times real numbers of the same shape.
Value scaled_by(const Writer& w, Value z, Value factors);
/// The elements of x [..., k] as the rows, or the columns, of an array of that shape, [..., k, n] or [..., n, k].
Value as_rows(const Writer& w, Value x, const Shape& shape);
Value as_columns(const Writer& w, Value x, const Shape& shape);
/// 1 / d off the diagonals of square matrices, NaN where d is 0: vectors of equal values have no derivative; 0 on the
/// diagonals.
Value reciprocal_off_diagonal(const Writer& w, Value d);
/// Sums over the rows of each matrix, or over its columns.
Value sum_over_rows(const Writer& w, Value x);
Value sum_over_columns(const Writer& w, Value x);
/// The rates [..., k] at which the phases of the columns v of matrices [..., n, k], complex, change with the tangent
/// dv: the first of the components of greatest magnitude stays real.
Value phase_rates(const Writer& w, Value v, Value dv);
/// x times i and the real numbers.
Value scaled_by_imaginary(const Writer& w, Value x, Value factors);

}  // namespace calque::primitives
