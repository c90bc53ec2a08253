// The routines of one level: included by the source file of each, with CALQUE_LEVEL and Eigen defined as its names.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <Eigen/Cholesky>
#include <Eigen/Core>

#include "runtime/routines/dense.h"

namespace calque::runtime::CALQUE_LEVEL {
namespace {

template <class T>
using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
template <class T>
using Map = Eigen::Map<Matrix<T>, 0, Eigen::OuterStride<>>;
template <class T>
using ConstMap = Eigen::Map<const Matrix<T>, 0, Eigen::OuterStride<>>;

template <class T>
bool cholesky(T* a, int64_t n, int64_t stride) {
  Eigen::Ref<Matrix<T>, 0, Eigen::OuterStride<>> whole = Map<T>(a, n, n, Eigen::OuterStride<>(stride));
  const Eigen::LLT<Eigen::Ref<Matrix<T>, 0, Eigen::OuterStride<>>> factor(whole);
  if (factor.info() != Eigen::Success) return false;
  for (int64_t i = 0; i < n; ++i)
    if (!(a[i * stride + i] > T(0))) return false;  // NaN as well
  return true;
}

template <unsigned Mode, class A, class B>
void solve_over(const A& a, B&& b) {
  a.template triangularView<Mode>().solveInPlace(b);
}

template <class T>
void solve(const T* a, int64_t n, int64_t stride, T* b, int64_t columns, int64_t b_stride, bool lower, bool transpose,
           bool unit_diagonal) {
  const ConstMap<T> matrix(a, n, n, Eigen::OuterStride<>(stride));
  Map<T> x(b, n, columns, Eigen::OuterStride<>(b_stride));
  if (transpose) {
    if (lower)
      unit_diagonal ? solve_over<Eigen::UnitUpper>(matrix.transpose(), x)
                    : solve_over<Eigen::Upper>(matrix.transpose(), x);
    else
      unit_diagonal ? solve_over<Eigen::UnitLower>(matrix.transpose(), x)
                    : solve_over<Eigen::Lower>(matrix.transpose(), x);
  } else if (lower) {
    unit_diagonal ? solve_over<Eigen::UnitLower>(matrix, x) : solve_over<Eigen::Lower>(matrix, x);
  } else {
    unit_diagonal ? solve_over<Eigen::UnitUpper>(matrix, x) : solve_over<Eigen::Upper>(matrix, x);
  }
}

template <class T>
void solve_right(const T* l, int64_t n, int64_t stride, T* b, int64_t rows, int64_t b_stride) {
  const ConstMap<T> factor(l, n, n, Eigen::OuterStride<>(stride));
  Map<T> x(b, rows, n, Eigen::OuterStride<>(b_stride));
  factor.transpose().template triangularView<Eigen::Upper>().template solveInPlace<Eigen::OnTheRight>(x);
}

template <class T>
void subtract_product(T* c, int64_t c_stride, const T* a, int64_t a_stride, const T* b, int64_t b_stride, int64_t rows,
                      int64_t columns, int64_t k, bool triangle) {
  Map<T> to(c, rows, columns, Eigen::OuterStride<>(c_stride));
  const ConstMap<T> left(a, rows, k, Eigen::OuterStride<>(a_stride)),
      right(b, columns, k, Eigen::OuterStride<>(b_stride));
  if (triangle)
    to.template triangularView<Eigen::Lower>() -= left * right.transpose();
  else
    to.noalias() -= left * right.transpose();
}

template <class T>
void subtract_plain_product(T* c, int64_t c_stride, const T* a, int64_t a_stride, const T* b, int64_t b_stride,
                            int64_t rows, int64_t columns, int64_t k) {
  Map<T> to(c, rows, columns, Eigen::OuterStride<>(c_stride));
  const ConstMap<T> left(a, rows, k, Eigen::OuterStride<>(a_stride)),
      right(b, k, columns, Eigen::OuterStride<>(b_stride));
  to.noalias() -= left * right;
}

template <class T>
using Columns = Eigen::Map<Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>, 0, Eigen::OuterStride<>>;
template <class T>
using ConstColumns = Eigen::Map<const Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>, 0, Eigen::OuterStride<>>;

/// The first row from `first` on with the greatest magnitude, where NaN is less than any number; `first` itself if all
/// are NaN.
template <class T>
int64_t pivot_row(const T* column, int64_t first, int64_t rows) {
  const Eigen::Map<const Eigen::Array<T, Eigen::Dynamic, 1>> tail(column + first, rows - first);
  const T most = tail.abs().template maxCoeff<Eigen::PropagateNumbers>();
  for (int64_t i = first; i < rows; ++i)
    if (std::abs(column[i]) == most) return i;
  return first;
}

template <class T>
void exchange_rows(Columns<T>& p, const int32_t* pivots, int64_t first, int64_t last, int64_t column, int64_t count) {
  for (int64_t c = column; c < column + count; ++c)
    for (int64_t k = first; k < last; ++k) std::swap(p(k, c), p(pivots[k], c));
}

/// The columns [column, column + count) of p, which has no more columns than rows and whose rows before `column` are
/// done; pivots are rows of p.
template <class T>
void factor_columns(Columns<T>& p, int64_t column, int64_t count, int32_t* pivots) {
  const int64_t rows = p.rows(), last = column + count;
  if (count <= 4) {
    for (int64_t k = column; k < last; ++k) {
      const int64_t row = pivot_row(p.col(k).data(), k, rows);
      pivots[k] = static_cast<int32_t>(row);
      for (int64_t c = column; c < last; ++c) std::swap(p(k, c), p(row, c));
      const T pivot = p(k, k);
      const int64_t below = rows - k - 1;
      if (pivot != T(0)) {
        if (std::abs(pivot) >= std::numeric_limits<T>::min())
          p.col(k).tail(below) *= T(1) / pivot;
        else
          p.col(k).tail(below) /= pivot;
      }
      for (int64_t c = k + 1; c < last; ++c) p.col(c).tail(below) -= p(k, c) * p.col(k).tail(below);
    }
    return;
  }
  const int64_t half = count / 2, middle = column + half;
  factor_columns(p, column, half, pivots);
  exchange_rows(p, pivots, column, middle, middle, count - half);
  auto right = p.block(column, middle, half, last - middle);
  p.block(column, column, half, half).template triangularView<Eigen::UnitLower>().solveInPlace(right);
  p.block(middle, middle, rows - middle, last - middle).noalias() -=
      p.block(middle, column, rows - middle, half) * right;
  factor_columns(p, middle, count - half, pivots);
  exchange_rows(p, pivots, middle, last, column, half);
}

template <class T>
void lu_panel(T* data, int64_t rows, int64_t columns, int64_t stride, int32_t* pivots) {
  Columns<T> p(data, rows, columns, Eigen::OuterStride<>(stride));
  factor_columns(p, 0, columns, pivots);
}

/// A reflection of each column, as the primitive qr defines it: signs and columns that are not reflected.
template <class T>
void qr_panel(T* data, int64_t rows, int64_t columns, int64_t stride, T* v_data, T* t_data) {
  const int64_t steps = std::min(rows, columns);
  Columns<T> p(data, rows, columns, Eigen::OuterStride<>(stride));
  Columns<T> v(v_data, rows, steps, Eigen::OuterStride<>(rows)), t(t_data, steps, steps, Eigen::OuterStride<>(steps));
  v.setZero();
  t.setZero();
  Eigen::Matrix<T, 1, Eigen::Dynamic> products(columns);
  for (int64_t k = 0; k < steps; ++k) {
    const int64_t below = rows - k - 1, right = columns - k - 1;
    const T alpha = p(k, k), squares = p.col(k).tail(below).squaredNorm();
    v(k, k) = T(1);
    T tau = 0;
    if (squares != T(0)) {
      const T beta = -std::copysign(std::sqrt(alpha * alpha + squares), alpha);
      tau = (beta - alpha) / beta;
      v.col(k).tail(below) = p.col(k).tail(below) * (T(1) / (alpha - beta));
      p(k, k) = beta;
      if (right > 0) {
        auto block = p.block(k, k + 1, below + 1, right);
        products.head(right).noalias() = v.col(k).tail(below + 1).transpose() * block;
        block.noalias() -= (tau * v.col(k).tail(below + 1)) * products.head(right);
      }
    }
    p.col(k).tail(below).setZero();
    t(k, k) = tau;
  }
  // t's column k is -tau t (vᵀ v_k) above the diagonal (Schreiber and Van Loan, 1989).
  if (steps < 2) return;
  const Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic> gram = v.transpose() * v;
  for (int64_t k = 1; k < steps; ++k) {
    const Eigen::Matrix<T, Eigen::Dynamic, 1> column =
        t.topLeftCorner(k, k).template triangularView<Eigen::Upper>() * gram.col(k).head(k);
    t.col(k).head(k) = -t(k, k) * column;
  }
}

template <class T>
void reflect(const T* v_data, const T* t_data, int64_t rows, int64_t k, T* c_data, int64_t columns, int64_t stride,
             bool transpose, T* space) {
  const ConstColumns<T> v(v_data, rows, k, Eigen::OuterStride<>(rows)), t(t_data, k, k, Eigen::OuterStride<>(k));
  Columns<T> c(c_data, rows, columns, Eigen::OuterStride<>(stride));
  Columns<T> first(space, k, columns, Eigen::OuterStride<>(k)),
      second(space + k * columns, k, columns, Eigen::OuterStride<>(k));
  first.noalias() = v.transpose() * c;
  if (transpose)
    second.noalias() = t.transpose() * first;
  else
    second.noalias() = t * first;
  c.noalias() -= v * second;
}

}  // namespace

extern const DenseRoutines<float> kFloats = {
    &cholesky<float>, &solve<float>,    &solve_right<float>, &subtract_product<float>, &subtract_plain_product<float>,
    &lu_panel<float>, &qr_panel<float>, &reflect<float>};
extern const DenseRoutines<double> kDoubles = {&cholesky<double>,
                                               &solve<double>,
                                               &solve_right<double>,
                                               &subtract_product<double>,
                                               &subtract_plain_product<double>,
                                               &lu_panel<double>,
                                               &qr_panel<double>,
                                               &reflect<double>};

}  // namespace calque::runtime::CALQUE_LEVEL
