#pragma once
// The singular value decomposition of the reference.
#include <algorithm>
#include <numeric>
#include <vector>

#include "primitives/linalg/spectrum.h"

namespace calque::primitives {

template <class W>
using Columns = std::vector<std::vector<W>>;

template <class W>
RealPart<W> sum_of_squares(const std::vector<W>& x) {
  RealPart<W> sum = 0;
  for (const W& e : x) sum += square_of(e);
  return sum;
}
template <class W>
W inner(const std::vector<W>& x, const std::vector<W>& y) {
  W sum(0);
  for (size_t i = 0; i < x.size(); ++i) sum += conjugate(x[i]) * y[i];
  return sum;
}

/// Makes the columns of a orthogonal by rotations, of which the columns of v are the product (Hestenes, Inversion of
/// matrices by biorthogonalization and related results, 1958). False if that does not converge.
template <class W>
bool orthogonalize(Columns<W>& a, Columns<W>& v) {
  using R = RealPart<W>;
  constexpr R kEps = std::numeric_limits<R>::epsilon();
  R squares = 0;
  for (const std::vector<W>& x : a) squares += sum_of_squares(x);
  const R least = kEps * kEps * std::sqrt(squares);
  for (int round = 0; round < kMostRounds; ++round) {
    bool rotated = false;
    // What rounding leaves of a column that depends on others has any direction, and that of another one again.
    for (std::vector<W>& x : a)
      if (std::sqrt(sum_of_squares(x)) <= least) std::fill(x.begin(), x.end(), W(0));
    for (size_t p = 0; p < a.size(); ++p) {
      for (size_t q = p + 1; q < a.size(); ++q) {
        const R x = sum_of_squares(a[p]), y = sum_of_squares(a[q]);
        const W coupling = inner(a[p], a[q]);
        const R size = std::abs(coupling), rows = static_cast<R>(a[p].size());
        if (size <= rows * kEps * std::sqrt(x) * std::sqrt(y)) continue;
        rotated = true;
        const Rotation<W> r(x, y, coupling, size);
        for (size_t i = 0; i < a[p].size(); ++i) r.apply(a[p][i], a[q][i], r.phase);
        for (size_t i = 0; i < v[p].size(); ++i) r.apply(v[p][i], v[q][i], r.phase);
      }
    }
    if (!rotated) return true;
  }
  return false;
}

/// A unit vector that is orthogonal to the first `count` columns of u, which are orthonormal and less than their rows:
/// what is left of the coordinate vector of which the most is left.
template <class W>
std::vector<W> next_orthonormal(const Columns<W>& u, size_t count, size_t rows) {
  std::vector<W> best;
  for (size_t i = 0; i < rows; ++i) {
    std::vector<W> x(rows);
    x[i] = W(1);
    for (int twice = 0; twice < 2; ++twice) {
      for (size_t k = 0; k < count; ++k) {
        const W along = inner(u[k], x);
        for (size_t r = 0; r < rows; ++r) x[r] -= along * u[k][r];
      }
    }
    if (best.empty() || sum_of_squares(x) > sum_of_squares(best)) best = std::move(x);
  }
  const RealPart<W> size = std::sqrt(sum_of_squares(best));
  for (W& x : best) x /= size;
  return best;
}

/// Replaces the columns of a matrix that is not wider than high by those of u, and v by the right vectors, in the order
/// of s. False if that does not converge.
template <class W>
bool decompose(Columns<W>& a, std::vector<RealPart<W>>& s, Columns<W>& v) {
  using R = RealPart<W>;
  const size_t n = a.size();
  v.assign(n, std::vector<W>(n));
  for (size_t k = 0; k < n; ++k) v[k][k] = W(1);
  if (!orthogonalize(a, v)) return false;
  std::vector<R> sizes(n);
  for (size_t k = 0; k < n; ++k) sizes[k] = std::sqrt(sum_of_squares(a[k]));
  std::vector<size_t> order(n);
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(),
            [&](size_t i, size_t k) { return sizes[i] > sizes[k] || (sizes[i] == sizes[k] && i < k); });
  Columns<W> u, right;
  s.clear();
  for (const size_t k : order) {
    s.push_back(sizes[k]);
    right.push_back(std::move(v[k]));
    if (sizes[k] == 0) {
      u.push_back(next_orthonormal(u, u.size(), a[k].size()));
      continue;
    }
    for (W& x : a[k]) x /= sizes[k];
    u.push_back(std::move(a[k]));
  }
  a = std::move(u);
  v = std::move(right);
  return true;
}

/// Of a matrix, u diag(s) adjoint(v): columns, as the primitive svd defines them.
template <class W>
struct JacobiSvd {
  Columns<W> u, v;
  std::vector<RealPart<W>> s;
};
/// That of a row-major matrix of T. False if it has elements that are not finite.
template <class T, class W>
bool jacobi_svd(const T* a, size_t rows, size_t columns, JacobiSvd<W>& out) {
  if (!is_all_finite(a, rows * columns)) return false;
  // The adjoint of a wide matrix: its left vectors are the right ones.
  const bool is_wide = columns > rows;
  out.u.assign(std::min(rows, columns), std::vector<W>(std::max(rows, columns)));
  for (size_t i = 0; i < rows; ++i) {
    for (size_t k = 0; k < columns; ++k) {
      const W x = static_cast<W>(a[i * columns + k]);
      is_wide ? out.u[i][k] = conjugate(x) : out.u[k][i] = x;
    }
  }
  if (!decompose(out.u, out.s, out.v)) return false;
  if (is_wide) std::swap(out.u, out.v);
  for (size_t k = 0; k < out.u.size(); ++k) {
    const W factor = normalize_phase<T>(out.v[k]);
    for (W& x : out.u[k]) x *= factor;
  }
  return true;
}

}  // namespace calque::primitives
