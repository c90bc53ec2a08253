// The routines of one level: included by the source file of each, with CALQUE_LEVEL and Eigen defined as its names.
#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <type_traits>

#include <Eigen/Core>
#include <Eigen/Eigenvalues>
#include <Eigen/SVD>

#include "runtime/routines/spectra_numbers.h"

namespace calque::runtime::CALQUE_LEVEL {
namespace {

template <class T>
void eigh(const T* a, int64_t n, int64_t count, Real<T>* w, T* v) {
  using R = Real<T>;
  Eigen::SelfAdjointEigenSolver<Matrix<T>> solver(n);
  Matrix<T> matrix(n, n), vectors(n, v != nullptr ? n : 0);
  for (int64_t m = 0; m < count; ++m, a += n * n, w += n) {
    R most = 0;
    for (int64_t i = 0; i < n && most <= std::numeric_limits<R>::max(); ++i) {
      const R of_row = greatest_part(parts_of(a + i * n), kParts<T> * (i + 1));
      most = of_row >= most || of_row != of_row ? of_row : most;
    }
    const bool finite = most <= std::numeric_limits<R>::max();
    if (finite) {
      const R scale = scale_of(most);
      matrix = ConstMap<T>(a, n, n);
      if (scale != R(1)) matrix *= scale;
      for (int64_t i = 0; i < n; ++i) matrix(i, i) = T(Eigen::numext::real(matrix(i, i)));
      solver.compute(matrix, v != nullptr ? Eigen::ComputeEigenvectors : Eigen::EigenvaluesOnly);
      for (int64_t i = 0; i < n; ++i) w[i] = solver.eigenvalues()[i] / scale;
    }
    const bool succeeded = finite && solver.info() == Eigen::Success;
    if (!succeeded) std::fill_n(w, n, kNaN<R>);
    if (v == nullptr) continue;
    if (succeeded) {
      vectors = solver.eigenvectors();
      for (int64_t k = 0; k < n; ++k) normalize_phase(vectors, k);
      Map<T>(v, n, n) = vectors;
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

/// Singular values and vectors of complex matrices that are not wider than high, by reduction to a real bidiagonal one
/// (Golub and Van Loan, Matrix Computations, 5.4.8).
template <class R>
class ComplexSvd {
  using T = std::complex<R>;

 public:
  /// Replaces a, whose greatest magnitude is about 1, and sets u and v if there are vectors. False if that does not
  /// converge.
  bool compute(Matrix<T>& a, bool with_vectors) {
    const int64_t rows = a.rows(), n = a.cols();
    bidiagonal_.setZero(n, n);
    left_.resize(n);
    right_.resize(n);
    Vector<T> row, sums;
    for (int64_t k = 0; k < n; ++k) {
      make_reflection(a.col(k).tail(rows - k), left_[k], bidiagonal_(k, k));
      // adjoint(h) from the left.
      reflect(a.col(k).tail(rows - k), Eigen::numext::conj(left_[k]), a.block(k, k + 1, rows - k, n - k - 1));
      const int64_t rest = n - k - 1;
      if (rest == 0) continue;
      // The adjoint of the rest of row k becomes real; its reflection stays in place of it.
      row = a.row(k).tail(rest).adjoint();
      make_reflection(row, right_[k], bidiagonal_(k, k + 1));
      a.row(k).tail(rest) = row.transpose();
      if (right_[k] == T(0)) continue;
      // a (I - tau v adjoint(v)), of which adjoint(h) has made the row.
      auto below = a.block(k + 1, k + 1, rows - k - 1, rest);
      sums.setZero(below.rows());
      for (int64_t c = 0; c < rest; ++c) sums += row[c] * below.col(c);
      for (int64_t c = 0; c < rest; ++c) below.col(c) -= (right_[k] * Eigen::numext::conj(row[c])) * sums;
    }
    solver_.compute(bidiagonal_, with_vectors ? Eigen::ComputeFullU | Eigen::ComputeFullV : 0);
    if (solver_.info() != Eigen::Success) return false;
    if (!with_vectors) return true;
    u.setZero(rows, n);
    u.topRows(n) = solver_.matrixU().template cast<T>();
    v = solver_.matrixV().template cast<T>();
    for (int64_t k = n; k-- > 0;) {
      reflect(a.col(k).tail(rows - k), left_[k], u.bottomRows(rows - k));
      if (k + 1 == n) continue;
      row = a.row(k).tail(n - k - 1).transpose();
      reflect(row, right_[k], v.bottomRows(n - k - 1));
    }
    return true;
  }
  const Vector<R>& values() const { return solver_.singularValues(); }
  Matrix<T> u, v;

 private:
  Matrix<R> bidiagonal_;
  Vector<T> left_, right_;
  Eigen::BDCSVD<Matrix<R>> solver_;
};

/// The same of real matrices of any shape.
template <class R>
class RealSvd {
 public:
  bool compute(const Matrix<R>& a, bool with_vectors) {
    solver_.compute(a, with_vectors ? Eigen::ComputeThinU | Eigen::ComputeThinV : 0);
    if (solver_.info() != Eigen::Success) return false;
    if (!with_vectors) return true;
    u = solver_.matrixU();
    v = solver_.matrixV();
    return true;
  }
  const Vector<R>& values() const { return solver_.singularValues(); }
  Matrix<R> u, v;

 private:
  Eigen::BDCSVD<Matrix<R>> solver_;
};

template <class T>
void svd(const T* a, int64_t rows, int64_t columns, int64_t count, T* u, Real<T>* s, T* vh) {
  using R = Real<T>;
  constexpr bool kIsComplex = kParts<T> == 2;
  const int64_t steps = std::min(rows, columns);
  const bool with_vectors = u != nullptr, by_adjoint = kIsComplex && columns > rows;
  std::conditional_t<kIsComplex, ComplexSvd<R>, RealSvd<R>> solver;
  Matrix<T> matrix;
  for (int64_t m = 0; m < count; ++m, a += rows * columns, s += steps) {
    const R most = greatest_part(parts_of(a), kParts<T> * rows * columns);
    bool succeeded = most <= std::numeric_limits<R>::max();
    if (succeeded) {
      const R scale = scale_of(most);
      const ConstMap<T> from(a, rows, columns);
      if (by_adjoint)
        matrix = from.adjoint();
      else
        matrix = from;
      if (scale != R(1)) matrix *= scale;
      succeeded = solver.compute(matrix, with_vectors);
      for (int64_t i = 0; i < steps && succeeded; ++i) s[i] = solver.values()[i] / scale;
    }
    if (!succeeded) std::fill_n(s, steps, kNaN<R>);
    if (!with_vectors) continue;
    if (succeeded) {
      Matrix<T>&left = by_adjoint ? solver.v : solver.u, &right = by_adjoint ? solver.u : solver.v;
      for (int64_t k = 0; k < steps; ++k) {
        const T factor = normalize_phase(right, k);
        if (factor != T(1)) left.col(k) *= factor;
      }
      Map<T>(u, rows, steps) = left;
      Map<T>(vh, steps, columns) = right.adjoint();
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
