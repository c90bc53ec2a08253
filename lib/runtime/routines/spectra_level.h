// The routines of one level: included by the source file of each, with CALQUE_LEVEL and Eigen defined as its names.
#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <type_traits>

#include <Eigen/Core>
#include <Eigen/Eigenvalues>

#include "runtime/routines/bidiagonal_level.h"
#include "runtime/routines/spectra_numbers.h"

namespace calque::runtime::CALQUE_LEVEL {
namespace {

/// In what matrices of T are computed: those of f32 in f64, whose solvers are there anyway. The phases of vectors are
/// decided with the precision of T.
template <class T>
using Wide = std::conditional_t<kParts<T> == 2, std::complex<double>, double>;
template <class T>
constexpr double kPrecision = std::numeric_limits<Real<T>>::epsilon();

template <class T>
void eigh(const T* a, int64_t n, int64_t count, Real<T>* w, T* v) {
  using R = Real<T>;
  Eigen::SelfAdjointEigenSolver<Matrix<Wide<T>>> solver(n);
  Matrix<Wide<T>> matrix(n, n), vectors(n, v != nullptr ? n : 0);
  for (int64_t m = 0; m < count; ++m, a += n * n, w += n) {
    R most = 0;
    for (int64_t i = 0; i < n && most <= std::numeric_limits<R>::max(); ++i) {
      const R of_row = greatest_part(parts_of(a + i * n), kParts<T> * (i + 1));
      most = of_row >= most || of_row != of_row ? of_row : most;
    }
    const bool finite = most <= std::numeric_limits<R>::max();
    if (finite) {
      const double scale = scale_of<double>(most);
      matrix = ConstMap<T>(a, n, n).template cast<Wide<T>>();
      if (scale != 1) matrix *= scale;
      for (int64_t i = 0; i < n; ++i) matrix(i, i) = Eigen::numext::real(matrix(i, i));
      solver.compute(matrix, v != nullptr ? Eigen::ComputeEigenvectors : Eigen::EigenvaluesOnly);
      for (int64_t i = 0; i < n; ++i) w[i] = static_cast<R>(solver.eigenvalues()[i] / scale);
    }
    const bool succeeded = finite && solver.info() == Eigen::Success;
    if (!succeeded) std::fill_n(w, n, kNaN<R>);
    if (v == nullptr) continue;
    if (succeeded) {
      vectors = solver.eigenvectors();
      for (int64_t k = 0; k < n; ++k) normalize_phase(vectors, k, kPrecision<T>);
      Map<T>(v, n, n) = vectors.template cast<T>();
    } else {
      std::fill_n(v, n * n, T(kNaN<R>));
    }
    v += n * n;
  }
}

template <class T>
using Vector = Eigen::Matrix<T, Eigen::Dynamic, 1>;

/// The reflection with which x becomes (beta, 0, 0 ...), beta real: x becomes v, and tau and beta are set.
template <class T, class X>
void make_reflection(X&& x, T& tau, Real<T>& beta) {
  using R = Real<T>;
  tau = T(0);
  const R scale = scale_of(R(x.cwiseAbs().maxCoeff()));  // of what rounding left, squares would vanish
  if (scale != R(1)) x *= scale;
  const T alpha = x[0];
  const R below = x.tail(x.size() - 1).squaredNorm();
  x[0] = T(1);
  beta = Eigen::numext::real(alpha) / scale;
  if (below == R(0) && Eigen::numext::imag(alpha) == R(0)) return;
  const R size = -std::copysign(std::sqrt(Eigen::numext::abs2(alpha) + below), Eigen::numext::real(alpha));
  tau = (T(size) - alpha) / T(size);
  x.tail(x.size() - 1) /= alpha - T(size);
  beta = size / scale;
}

/// c = (I - tau v adjoint(v)) c, column by column.
template <class T, class V, class C>
void reflect(const V& v, const T& tau, C&& c) {
  if (tau == T(0)) return;
  for (int64_t k = 0; k < c.cols(); ++k) {
    const T weight = tau * v.dot(c.col(k));
    c.col(k) -= weight * v;
  }
}

/// Singular values and vectors of matrices of f64 that are not wider than high, by reduction to a real bidiagonal one
/// (Golub and Van Loan, Matrix Computations, 5.4.8).
template <class T>
class DenseSvd {
 public:
  /// Replaces a, whose greatest magnitude is about 1, and sets u and v if there are vectors. False if that does not
  /// converge.
  bool compute(Matrix<T>& a, bool with_vectors) {
    const int64_t rows = a.rows(), n = a.cols();
    solver_.diagonal.resize(n);
    solver_.above.setZero(n - 1);
    left_.resize(n);
    right_.setZero(n);
    Vector<T> row, sums;
    for (int64_t k = 0; k < n; ++k) {
      make_reflection(a.col(k).tail(rows - k), left_[k], solver_.diagonal[k]);
      // adjoint(h) from the left.
      reflect(a.col(k).tail(rows - k), Eigen::numext::conj(left_[k]), a.block(k, k + 1, rows - k, n - k - 1));
      const int64_t rest = n - k - 1;
      if (rest == 0) continue;
      // The adjoint of the rest of row k becomes real; its reflection stays in place of it.
      row = a.row(k).tail(rest).adjoint();
      make_reflection(row, right_[k], solver_.above[k]);
      a.row(k).tail(rest) = row.transpose();
      if (right_[k] == T(0)) continue;
      // a (I - tau v adjoint(v)), of which adjoint(h) has made the row.
      auto below = a.block(k + 1, k + 1, rows - k - 1, rest);
      sums.setZero(below.rows());
      for (int64_t c = 0; c < rest; ++c) sums += row[c] * below.col(c);
      for (int64_t c = 0; c < rest; ++c) below.col(c) -= (right_[k] * Eigen::numext::conj(row[c])) * sums;
    }
    if (!solver_.compute(with_vectors)) return false;
    if (!with_vectors) return true;
    u.setZero(rows, n);
    u.topRows(n) = solver_.u.template cast<T>();
    v = solver_.v.template cast<T>();
    for (int64_t k = n; k-- > 0;) {
      reflect(a.col(k).tail(rows - k), left_[k], u.bottomRows(rows - k));
      if (k + 1 == n) continue;
      row = a.row(k).tail(n - k - 1).transpose();
      reflect(row, right_[k], v.bottomRows(n - k - 1));
    }
    return true;
  }
  const Column<double>& values() const { return solver_.diagonal; }
  Matrix<T> u, v;

 private:
  Vector<T> left_, right_;
  BidiagonalSvd<double> solver_;
};

template <class T>
void svd(const T* a, int64_t rows, int64_t columns, int64_t count, T* u, Real<T>* s, T* vh) {
  using R = Real<T>;
  const int64_t steps = std::min(rows, columns);
  const bool with_vectors = u != nullptr, by_adjoint = columns > rows;
  DenseSvd<Wide<T>> solver;
  Matrix<Wide<T>> matrix;
  for (int64_t m = 0; m < count; ++m, a += rows * columns, s += steps) {
    const R most = greatest_part(parts_of(a), kParts<T> * rows * columns);
    bool succeeded = most <= std::numeric_limits<R>::max();
    if (succeeded) {
      const double scale = scale_of<double>(most);
      const ConstMap<T> from(a, rows, columns);
      if (by_adjoint)
        matrix = from.adjoint().template cast<Wide<T>>();
      else
        matrix = from.template cast<Wide<T>>();
      if (scale != 1) matrix *= scale;
      succeeded = solver.compute(matrix, with_vectors);
      for (int64_t i = 0; i < steps && succeeded; ++i) s[i] = static_cast<R>(solver.values()[i] / scale);
    }
    if (!succeeded) std::fill_n(s, steps, kNaN<R>);
    if (!with_vectors) continue;
    if (succeeded) {
      Matrix<Wide<T>>&left = by_adjoint ? solver.v : solver.u, &right = by_adjoint ? solver.u : solver.v;
      for (int64_t k = 0; k < steps; ++k) {
        const Wide<T> factor = normalize_phase(right, k, kPrecision<T>);
        if (factor != Wide<T>(1)) left.col(k) *= factor;
      }
      Map<T>(u, rows, steps) = left.template cast<T>();
      Map<T>(vh, steps, columns) = right.adjoint().template cast<T>();
    } else {
      std::fill_n(u, rows * steps, T(kNaN<R>));
      std::fill_n(vh, steps * columns, T(kNaN<R>));
    }
    u += rows * steps;
    vh += steps * columns;
  }
}

}  // namespace

extern const SpectralRoutines<float> kFloatSpectra = {&eigh<float>, &svd<float>};
extern const SpectralRoutines<double> kDoubleSpectra = {&eigh<double>, &svd<double>};
extern const SpectralRoutines<std::complex<float>> kComplexFloatSpectra = {&eigh<std::complex<float>>,
                                                                           &svd<std::complex<float>>};
extern const SpectralRoutines<std::complex<double>> kComplexDoubleSpectra = {&eigh<std::complex<double>>,
                                                                             &svd<std::complex<double>>};

}  // namespace calque::runtime::CALQUE_LEVEL
