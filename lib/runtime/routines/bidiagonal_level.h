// Singular values of bidiagonal matrices, by the implicitly shifted QR iteration (Golub and Van Loan, Matrix
// Computations, 8.6; the shift and where it is none by Demmel and Kahan, Accurate singular values of bidiagonal
// matrices, SIAM J. Sci. Stat. Comput. 11, 1990). Vectors are products of rotations, so they are orthonormal whatever
// the values are: Eigen's divide and conquer reads out of bounds, or returns others, for equal values.
#pragma once
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <Eigen/Jacobi>

#include "runtime/routines/spectra_numbers.h"

namespace calque::runtime::CALQUE_LEVEL {
namespace {

/// c and s with c f + s g = r and c g - s f = 0.
template <class R>
struct PlaneRotation {
  R c = 1, s = 0, r;

  PlaneRotation(R f, R g) : r(f) {
    if (g == R(0)) return;
    r = std::hypot(f, g);
    c = f / r;
    s = g / r;
  }
  /// Columns i and k of v become c v_i + s v_k and c v_k - s v_i.
  void apply(Matrix<R>& v, int64_t i, int64_t k) const {
    if (v.cols() != 0) v.applyOnTheRight(i, k, Eigen::JacobiRotation<R>(c, -s));
  }
};

/// The smaller singular value of the upper triangle f, g over h.
template <class R>
R least_singular_value(R f, R g, R h) {
  f = std::abs(f), g = std::abs(g), h = std::abs(h);
  const R most = std::max(f, h), least = std::min(f, h);
  if (least == R(0)) return R(0);
  if (g > most && most / g == R(0)) return least * most / g;
  const R ratio = g > most ? most / g : g / most;
  const R sum = 1 + least / most, difference = (most - least) / most;
  if (g <= most) return least * 2 / (std::hypot(sum, ratio) + std::hypot(difference, ratio));
  // In terms of most / g, which is less than 1.
  return least * ratio * 2 / (std::hypot(sum * ratio, R(1)) + std::hypot(difference * ratio, R(1)));
}

// Not std::vector: its functions would be those of any level for all of them.
template <class T>
using Column = Eigen::Matrix<T, Eigen::Dynamic, 1>;

/// The matrix with `diagonal` and `above` it, finite numbers of at most about 1: b = u diag(values) adjoint(v).
template <class R>
class BidiagonalSvd {
 public:
  Column<R> diagonal, above;
  /// Square, or without columns if they are not wanted.
  Matrix<R> u, v;

  /// Replaces the diagonal by the values, in descending order. False if that does not converge.
  bool compute(bool with_vectors) {
    const auto n = diagonal.size();
    u = with_vectors ? Matrix<R>::Identity(n, n) : Matrix<R>(n, 0);
    v = u;
    most_ = 0;
    for (int64_t k = 0; k < n; ++k) most_ = std::max(most_, std::abs(diagonal[k]));
    for (int64_t k = 0; k + 1 < n; ++k) most_ = std::max(most_, std::abs(above[k]));
    int64_t steps = kMostSteps * (n + 1);
    for (int64_t last = n - 1; last > 0;) {
      const int64_t first = block_before(last);
      if (first == last) {
        --last;
      } else if (!drop_zero(first, last)) {
        if (steps-- == 0) return false;
        step(first, last);
      }
    }
    sort(n);
    return true;
  }

 private:
  static constexpr R kEps = std::numeric_limits<R>::epsilon();
  static constexpr int64_t kMostSteps = 100;  ///< for a value; two or three do

  /// Drops negligible elements above the diagonal: the first row of the block without any that ends at `last`.
  int64_t block_before(int64_t last) {
    int64_t first = last;
    for (; first > 0; --first) {
      const R sides = std::abs(diagonal[first - 1]) + std::abs(diagonal[first]);
      if (std::abs(above[first - 1]) <= std::max(kEps * sides, least_of_all())) {
        above[first - 1] = 0;
        break;
      }
    }
    return first;
  }
  R least_of_all() const { return most_ * kEps * kEps; }

  /// Where an element of a block's diagonal is 0: its row, or its column if it is the last, becomes 0.
  bool drop_zero(int64_t first, int64_t last) {
    const R least = least_of_all();
    for (int64_t i = last; i >= first; --i) {
      if (std::abs(diagonal[i]) > least) continue;
      diagonal[i] = 0;
      if (i < last) {
        R f = std::exchange(above[i], R(0));
        for (int64_t k = i + 1; k <= last && f != R(0); ++k) {
          const PlaneRotation<R> of_rows(diagonal[k], f);
          diagonal[k] = of_rows.r;
          if (k < last) {
            f = -of_rows.s * above[k];
            above[k] *= of_rows.c;
          }
          of_rows.apply(u, k, i);
        }
      } else {
        R f = std::exchange(above[last - 1], R(0));
        for (int64_t k = last - 1; k >= first && f != R(0); --k) {
          const PlaneRotation<R> of_columns(diagonal[k], f);
          diagonal[k] = of_columns.r;
          if (k > first) {
            f = -of_columns.s * above[k - 1];
            above[k - 1] *= of_columns.c;
          }
          of_columns.apply(v, k, last);
        }
      }
      return true;
    }
    return false;
  }

  void step(int64_t first, int64_t last) {
    const R at = std::abs(diagonal[first]);
    R shift = least_singular_value(diagonal[last - 1], above[last - 1], diagonal[last]);
    // Small values keep their digits without one.
    if (shift / at * (shift / at) < kEps) shift = 0;
    R f = (at - shift) * (std::copysign(R(1), diagonal[first]) + shift / diagonal[first]), g = above[first];
    for (int64_t k = first; k < last; ++k) {
      const PlaneRotation<R> of_columns(f, g);
      if (k > first) above[k - 1] = of_columns.r;
      f = of_columns.c * diagonal[k] + of_columns.s * above[k];
      above[k] = of_columns.c * above[k] - of_columns.s * diagonal[k];
      g = of_columns.s * diagonal[k + 1];
      diagonal[k + 1] *= of_columns.c;
      of_columns.apply(v, k, k + 1);

      const PlaneRotation<R> of_rows(f, g);
      diagonal[k] = of_rows.r;
      f = of_rows.c * above[k] + of_rows.s * diagonal[k + 1];
      diagonal[k + 1] = of_rows.c * diagonal[k + 1] - of_rows.s * above[k];
      if (k + 1 < last) {
        g = of_rows.s * above[k + 1];
        above[k + 1] *= of_rows.c;
      }
      of_rows.apply(u, k, k + 1);
    }
    above[last - 1] = f;
  }

  void sort(int64_t n) {
    for (int64_t k = 0; k < n; ++k) {
      if (!std::signbit(diagonal[k])) continue;
      diagonal[k] = -diagonal[k];
      if (v.cols() != 0) v.col(k) = -v.col(k);
    }
    Column<int64_t> order(n);
    for (int64_t k = 0; k < n; ++k) order[k] = k;
    std::sort(order.data(), order.data() + n,
              [&](int64_t i, int64_t k) { return diagonal[i] > diagonal[k] || (diagonal[i] == diagonal[k] && i < k); });
    const Column<R> values = diagonal;
    for (int64_t k = 0; k < n; ++k) diagonal[k] = values[order[k]];
    if (v.cols() == 0) return;
    const Matrix<R> before_u = u, before_v = v;
    for (int64_t k = 0; k < n; ++k) {
      u.col(k) = before_u.col(order[k]);
      v.col(k) = before_v.col(order[k]);
    }
  }

  R most_ = 0;
};

}  // namespace
}  // namespace calque::runtime::CALQUE_LEVEL
