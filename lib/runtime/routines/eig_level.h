// Eigenvalues of general matrices, of one level: included by the source file of each, with CALQUE_LEVEL and Eigen
// defined as its names. All are computed in double precision, which halves what is compiled.
#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <type_traits>

#include <Eigen/Core>
#include <Eigen/Eigenvalues>

#include "runtime/routines/spectra_numbers.h"

namespace calque::runtime::CALQUE_LEVEL {
namespace {

using Number = std::complex<double>;
template <class W>
using Vector = Eigen::Matrix<W, Eigen::Dynamic, 1>;

/// Makes the columns of a about as long as its rows: a becomes inverse(diag(d)) a diag(d), where d are powers of two.
/// Lengths include the diagonal, which bounds d where much is 0 (James, Langou and Lowery, On matrix balancing and
/// eigenvector computation, arXiv:1401.5766, 2014).
template <class W>
void balance(Matrix<W>& a, Vector<double>& d) {
  constexpr int kMostRounds = 30, kMostExponent = 300;
  constexpr double kGain = 0.95;
  const int64_t n = a.rows();
  d.setOnes(n);
  for (int round = 0; round < kMostRounds; ++round) {
    bool changed = false;
    for (int64_t i = 0; i < n; ++i) {
      double column = 0, row = 0;
      for (int64_t k = 0; k < n; ++k) {
        column += Eigen::numext::abs2(a(k, i));
        row += Eigen::numext::abs2(a(i, k));
      }
      if (column == 0 || row == 0) continue;
      // Half of the quotient's, of which these are squares.
      const int exponent = (std::ilogb(row) - std::ilogb(column)) / 4;
      if (exponent == 0 || std::abs(std::ilogb(d[i]) + exponent) > kMostExponent) continue;
      const double factor = std::ldexp(1.0, exponent), inverse = std::ldexp(1.0, -exponent);
      if (std::sqrt(column) * factor + std::sqrt(row) * inverse >= kGain * (std::sqrt(column) + std::sqrt(row)))
        continue;
      changed = true;
      d[i] *= factor;
      for (int64_t k = 0; k < n; ++k) a(k, i) *= factor;
      for (int64_t k = 0; k < n; ++k) a(i, k) *= inverse;
    }
    if (!changed) return;
  }
}

/// By Eigen's solver of real matrices.
class RealEig {
 public:
  explicit RealEig(int64_t n) : solver_(n) {}

  /// False if that does not converge.
  bool compute(const Matrix<double>& a, bool with_vectors) {
    solver_.compute(a, with_vectors);
    return solver_.info() == Eigen::Success;
  }
  Number value(int64_t k) const { return solver_.eigenvalues()[k]; }
  /// Complex vectors are two columns: the real parts and the imaginary parts of that of the first value of a pair.
  void vectors(Matrix<Number>& v) const {
    const Matrix<double>& parts = solver_.pseudoEigenvectors();
    const int64_t n = parts.rows();
    for (int64_t k = 0; k < n; ++k) {
      if (value(k).imag() == 0 || k + 1 == n) {
        for (int64_t i = 0; i < n; ++i) v(i, k) = parts(i, k);
        continue;
      }
      for (int64_t i = 0; i < n; ++i) {
        v(i, k) = Number(parts(i, k), parts(i, k + 1));
        v(i, k + 1) = std::conj(v(i, k));
      }
      ++k;
    }
  }

 private:
  Eigen::EigenSolver<Matrix<double>> solver_;
};

/// By Eigen's Schur decomposition of complex matrices.
class ComplexEig {
 public:
  explicit ComplexEig(int64_t n) : schur_(n), x_(n) {}

  bool compute(const Matrix<Number>& a, bool with_vectors) {
    schur_.compute(a, with_vectors);
    return schur_.info() == Eigen::Success;
  }
  Number value(int64_t k) const { return schur_.matrixT()(k, k); }
  /// By back substitution of the triangular factor; values that are equal are held apart.
  void vectors(Matrix<Number>& v) {
    const Matrix<Number>&t = schur_.matrixT(), &u = schur_.matrixU();
    const int64_t n = t.rows();
    double size = 0;
    for (int64_t k = 0; k < n; ++k)
      for (int64_t i = 0; i <= k; ++i) size = std::max(size, std::abs(t(i, k)));
    const double least = std::max(std::numeric_limits<double>::epsilon() * size, std::numeric_limits<double>::min());
    const double most = std::ldexp(1.0, 100);
    for (int64_t k = 0; k < n; ++k) {
      for (int64_t i = 0; i < k; ++i) x_[i] = -t(i, k);
      x_[k] = 1;
      for (int64_t i = k; i-- > 0;) {
        Number apart = t(i, i) - t(k, k);
        if (std::abs(apart) < least) apart = least;
        x_[i] /= apart;
        const double length = std::abs(x_[i]);
        if (length > most)
          for (int64_t c = 0; c <= k; ++c) x_[c] /= length;
        for (int64_t c = 0; c < i; ++c) x_[c] -= t(c, i) * x_[i];
      }
      v.col(k).setZero();
      for (int64_t i = 0; i <= k; ++i) v.col(k) += u.col(i) * x_[i];
    }
  }

 private:
  Eigen::ComplexSchur<Matrix<Number>> schur_;
  Vector<Number> x_;
};

/// Column k of vectors of a balanced matrix becomes one of the matrix before, of norm 1 and with its phase.
void normalize(Matrix<Number>& v, int64_t k, const Vector<double>& d, double eps) {
  const int64_t n = v.rows();
  double most = 0, squares = 0;
  for (int64_t i = 0; i < n; ++i) {
    v(i, k) *= d[i];
    most = std::max({most, std::abs(v(i, k).real()), std::abs(v(i, k).imag())});
  }
  if (most == 0) return;
  const double scale = std::ldexp(1.0, -std::ilogb(most));
  for (int64_t i = 0; i < n; ++i) {
    v(i, k) *= scale;
    squares += std::norm(v(i, k));
  }
  const double inverse = 1 / std::sqrt(squares);
  for (int64_t i = 0; i < n; ++i) v(i, k) *= inverse;
  normalize_phase(v, k, eps);
}

template <class T>
void eig(const T* a, int64_t n, int64_t count, std::complex<Real<T>>* w, std::complex<Real<T>>* v) {
  using C = std::complex<Real<T>>;
  using W = std::conditional_t<kParts<T> == 2, Number, double>;
  constexpr C kNone(kNaN<Real<T>>, kNaN<Real<T>>);
  std::conditional_t<kParts<T> == 2, ComplexEig, RealEig> solver(n);
  Matrix<W> matrix(n, n);
  Matrix<Number> vectors(n, v != nullptr ? n : 0);
  Vector<double> d;
  for (int64_t m = 0; m < count; ++m, a += n * n, w += n) {
    const auto most = static_cast<double>(greatest_part(parts_of(a), kParts<T> * n * n));
    bool succeeded = most <= std::numeric_limits<double>::max();
    if (succeeded) {
      const double scale = scale_of(most);
      for (int64_t i = 0; i < n; ++i)
        for (int64_t k = 0; k < n; ++k) matrix(i, k) = W(a[i * n + k]) * scale;
      balance(matrix, d);
      succeeded = solver.compute(matrix, v != nullptr);
      for (int64_t i = 0; i < n && succeeded; ++i) w[i] = C(solver.value(i) / scale);
    }
    if (!succeeded) std::fill_n(w, n, kNone);
    if (v == nullptr) continue;
    if (succeeded) {
      solver.vectors(vectors);
      for (int64_t k = 0; k < n; ++k)
        normalize(vectors, k, d, static_cast<double>(std::numeric_limits<Real<T>>::epsilon()));
      for (int64_t i = 0; i < n; ++i)
        for (int64_t k = 0; k < n; ++k) v[i * n + k] = C(vectors(i, k));
    } else {
      std::fill_n(v, n * n, kNone);
    }
    v += n * n;
  }
}

}  // namespace

extern const EigRoutines<float> kFloatEig = {&eig<float>};
extern const EigRoutines<double> kDoubleEig = {&eig<double>};
extern const EigRoutines<std::complex<float>> kComplexFloatEig = {&eig<std::complex<float>>};
extern const EigRoutines<std::complex<double>> kComplexDoubleEig = {&eig<std::complex<double>>};

}  // namespace calque::runtime::CALQUE_LEVEL
