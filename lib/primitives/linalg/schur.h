#pragma once
// Eigenvalues and eigenvectors of general matrices by the QR iteration, of the reference: a = q t adjoint(q), where t
// is upper triangular (Golub and Van Loan, Matrix Computations, 7.4 to 7.6).
#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <vector>

#include "primitives/linalg/matrix.h"
#include "primitives/linalg/spectrum.h"

namespace calque::primitives {

/// A square matrix, row by row.
template <class W>
struct Square {
  size_t n = 0;
  std::vector<W> elements;

  explicit Square(size_t extent) : n(extent), elements(extent * extent) {}
  W& operator()(size_t i, size_t k) { return elements[i * n + k]; }
  const W& operator()(size_t i, size_t k) const { return elements[i * n + k]; }
};

/// The iteration: h = adjoint(q) a q, which becomes (quasi) upper triangular.
template <class W>
class QrIteration {
  using R = RealPart<W>;

 public:
  Square<W> h, q;

  explicit QrIteration(Square<W> a) : h(std::move(a)), q(h.n) {
    for (size_t i = 0; i < h.n; ++i) q(i, i) = W(1);
    for (const W& x : h.elements) size_ = std::hypot(size_, std::abs(x));
    for (size_t k = 0; k + 2 < h.n; ++k) {
      std::vector<W> column;
      for (size_t i = k + 1; i < h.n; ++i) column.push_back(h(i, k));
      reflect(column, k + 1);
      for (size_t i = k + 2; i < h.n; ++i) h(i, k) = W(0);
    }
  }

  /// False if it does not converge. Of real matrices blocks of two rows are left where values are not real.
  bool run() {
    int steps = 0;
    for (size_t end = h.n; end > 1;) {
      const size_t begin = first_of_block(end);
      const size_t length = end - begin;
      if (length == 1 || (length == 2 && split(begin))) {
        end = begin;
        steps = 0;
        continue;
      }
      if (++steps > kMostSteps) return false;
      step(begin, end, steps % 10 == 0);
    }
    return true;
  }

  /// h becomes adjoint(g) h g and q becomes q g, g with the columns (x, y) and (-conj(y), conj(x)) in the rows p and
  /// p + 1, where |x|^2 + |y|^2 = 1.
  void rotate(size_t p, const W& x, const W& y) {
    const auto columns = [&](Square<W>& m) {
      for (size_t i = 0; i < m.n; ++i) {
        const W left = m(i, p), right = m(i, p + 1);
        m(i, p) = left * x + right * y;
        m(i, p + 1) = right * conjugate(x) - left * conjugate(y);
      }
    };
    for (size_t k = 0; k < h.n; ++k) {
      const W upper = h(p, k), lower = h(p + 1, k);
      h(p, k) = conjugate(x) * upper + conjugate(y) * lower;
      h(p + 1, k) = x * lower - y * upper;
    }
    columns(h);
    columns(q);
  }

 private:
  static constexpr int kMostSteps = 100;
  R size_ = 0;

  /// Makes the vector, of rows `first` and those below, a multiple of the first unit vector by a reflection of h and q.
  void reflect(std::vector<W> v, size_t first) {
    R below = 0, all = 0;
    for (const W& x : v) all = std::hypot(all, std::abs(x));
    for (size_t i = 1; i < v.size(); ++i) below += square_of(v[i]);
    if (below == 0) return;
    const W phase = v[0] == W(0) ? W(1) : v[0] / std::abs(v[0]);
    v[0] += phase * all;
    const R weight = 2 / (below + square_of(v[0]));
    for (size_t k = 0; k < h.n; ++k) {
      W sum(0);
      for (size_t i = 0; i < v.size(); ++i) sum += conjugate(v[i]) * h(first + i, k);
      for (size_t i = 0; i < v.size(); ++i) h(first + i, k) -= weight * v[i] * sum;
    }
    const auto columns = [&](Square<W>& m) {
      for (size_t k = 0; k < m.n; ++k) {
        W sum(0);
        for (size_t i = 0; i < v.size(); ++i) sum += m(k, first + i) * v[i];
        for (size_t i = 0; i < v.size(); ++i) m(k, first + i) -= weight * sum * conjugate(v[i]);
      }
    };
    columns(h);
    columns(q);
  }

  /// Where the block begins that ends before `end`: behind the last element below the diagonal that is negligible.
  size_t first_of_block(size_t end) {
    for (size_t i = end - 1; i > 0; --i) {
      R scale = std::abs(h(i - 1, i - 1)) + std::abs(h(i, i));
      if (scale == 0) scale = size_;
      if (std::abs(h(i, i - 1)) > std::numeric_limits<R>::epsilon() * scale) continue;
      h(i, i - 1) = W(0);
      return i;
    }
    return 0;
  }

  /// A block of two rows: true if nothing is left to do. Of real numbers it is made triangular if its values are real.
  bool split(size_t p) {
    if constexpr (is_wide_complex<W>) {
      return false;
    } else {
      const R half = (h(p, p) - h(p + 1, p + 1)) / 2, square = half * half + h(p, p + 1) * h(p + 1, p);
      if (square < 0) return true;
      const R x = half + std::copysign(std::sqrt(square), half), y = h(p + 1, p), length = std::hypot(x, y);
      rotate(p, x / length, y / length);
      h(p + 1, p) = 0;
      return true;
    }
  }

  /// One step of the rows [begin, end), with other shifts if `exceptional`.
  void step(size_t begin, size_t end, bool exceptional) {
    if constexpr (is_wide_complex<W>) {
      single_shift(begin, end, exceptional);
    } else {
      double_shift(begin, end, exceptional);
    }
  }

  /// Francis' step by both values of the last two rows.
  void double_shift(size_t begin, size_t end, bool exceptional) {
    const size_t last = end - 1;
    W sum = h(last - 1, last - 1) + h(last, last);
    W product = h(last - 1, last - 1) * h(last, last) - h(last - 1, last) * h(last, last - 1);
    if (exceptional) {
      const R shift = std::abs(h(last, last - 1)) + std::abs(h(last - 1, last - 2));
      sum = W(1.5) * shift;
      product = shift * shift;
    }
    const size_t b = begin;
    std::vector<W> v = {h(b, b) * (h(b, b) - sum) + h(b, b + 1) * h(b + 1, b) + product,
                        h(b + 1, b) * (h(b, b) + h(b + 1, b + 1) - sum), h(b + 1, b) * h(b + 2, b + 1)};
    for (size_t k = begin; k + 1 < end; ++k) {
      const size_t count = std::min<size_t>(3, end - k);
      v.resize(count);
      reflect(v, k);
      if (k > begin)
        for (size_t i = 1; i < count; ++i) h(k + i, k - 1) = W(0);
      v.assign(3, W(0));
      for (size_t i = 0; i < 3 && k + 1 + i < end; ++i) v[i] = h(k + 1 + i, k);
    }
  }

  /// A step by Wilkinson's shift.
  void single_shift(size_t begin, size_t end, bool exceptional) {
    const size_t last = end - 1;
    const W d = h(last, last);
    W shift = d;
    if (exceptional) {
      shift += W(std::abs(h(last, last - 1)));
    } else {
      const W half = (h(last - 1, last - 1) - d) / R(2), coupling = h(last - 1, last) * h(last, last - 1);
      const W root = std::sqrt(half * half + coupling);
      const W divisor = std::abs(half + root) >= std::abs(half - root) ? half + root : half - root;
      if (divisor != W(0)) shift = d - coupling / divisor;
    }
    // The rotation with which the first column of h - shift has one element; those that follow restore the form.
    W x = h(begin, begin) - shift, y = h(begin + 1, begin);
    for (size_t k = begin; k + 1 < end; ++k) {
      const R length = std::hypot(std::abs(x), std::abs(y));
      if (length > 0) rotate(k, x / length, y / length);
      if (k > begin) h(k + 1, k - 1) = W(0);
      if (k + 2 < end) {
        x = h(k + 1, k);
        y = h(k + 2, k);
      }
    }
  }
};

/// The values and vectors of a matrix of elements T, computed in the wider type W; of real matrices those that are
/// complex are pairs of conjugates. The vectors are columns, of norm 1 and normalized phase.
template <class T, class W>
bool eigen_decomposition(const T* a, size_t n, std::vector<std::complex<RealPart<W>>>& values,
                         std::vector<std::vector<std::complex<RealPart<W>>>>& vectors) {
  using R = RealPart<W>;
  using C = std::complex<R>;
  Square<W> wide(n);
  std::transform(a, a + n * n, wide.elements.begin(), [](const T& x) { return static_cast<W>(x); });
  QrIteration<W> real(std::move(wide));
  if (!real.run()) return false;

  // From here on complex and triangular.
  QrIteration<C> schur{Square<C>(n)};
  std::copy(real.h.elements.begin(), real.h.elements.end(), schur.h.elements.begin());
  std::copy(real.q.elements.begin(), real.q.elements.end(), schur.q.elements.begin());
  Square<C>& t = schur.h;
  R size = 0;
  for (const C& x : t.elements) size = std::max(size, std::abs(x));
  for (size_t p = 0; p + 1 < n; ++p) {
    if (is_wide_complex<W> || t(p + 1, p) == C(0)) continue;
    const R d = t(p + 1, p + 1).real(), half = (t(p, p).real() - d) / 2;
    const R product = t(p, p + 1).real() * t(p + 1, p).real();
    const C value(d + half, std::sqrt(-(half * half + product)));
    const C x = value - d, y = t(p + 1, p);
    const R length = std::hypot(std::abs(x), std::abs(y));
    schur.rotate(p, x / length, y / length);
    t(p + 1, p) = C(0);
    t(p, p) = value;
    t(p + 1, p + 1) = std::conj(value);
  }

  for (size_t k = 0; k < n; ++k) {
    values.push_back(t(k, k));
    if (!is_wide_complex<W> && t(k, k).imag() < 0) {  // the conjugate of the one before
      std::vector<C> v = vectors.back();
      for (C& e : v) e = std::conj(e);
      vectors.push_back(std::move(v));
      continue;
    }
    // (t - t_kk) x = 0 with x_k = 1, from below; values that are equal are held apart.
    std::vector<C> x(k + 1);
    x[k] = C(1);
    const R least = std::max(std::numeric_limits<R>::epsilon() * size, std::numeric_limits<R>::min());
    for (size_t i = k; i-- > 0;) {
      C sum(0);
      for (size_t c = i + 1; c <= k; ++c) sum += t(i, c) * x[c];
      C apart = t(k, k) - t(i, i);
      if (std::abs(apart) < least) apart = least;
      x[i] = sum / apart;
      const R most = std::abs(x[i]);
      if (most > R(1e10))
        for (C& e : x) e /= most;
    }
    std::vector<C> v(n, C(0));
    for (size_t i = 0; i < n; ++i)
      for (size_t c = 0; c <= k; ++c) v[i] += schur.q(i, c) * x[c];
    normalize_phase<T>(v);
    if (!is_wide_complex<W> && t(k, k).imag() == 0)  // of a real value the real part is a vector, too
      for (C& e : v) e = e.real();
    R norm = 0;
    for (const C& e : v) norm = std::hypot(norm, std::abs(e));
    for (C& e : v) e /= norm;
    normalize_phase<T>(v);
    vectors.push_back(std::move(v));
  }
  return true;
}

}  // namespace calque::primitives
