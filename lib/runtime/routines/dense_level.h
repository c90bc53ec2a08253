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

template <unsigned Mode, class A, class B>
void solve_over(const A& a, B&& b) {
  a.template triangularView<Mode>().solveInPlace(b);
}

template <class A, class B>
void solve_triangle(const A& matrix, B&& x, bool lower, bool transpose, bool unit_diagonal) {
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
void solve(const T* a, int64_t n, int64_t stride, T* b, int64_t columns, int64_t b_stride, bool lower, bool transpose,
           bool unit_diagonal) {
  const ConstMap<T> matrix(a, n, n, Eigen::OuterStride<>(stride));
  if (columns == 1 && b_stride == 1)
    return solve_triangle(matrix, Eigen::Map<Eigen::Matrix<T, Eigen::Dynamic, 1>>(b, n), lower, transpose,
                          unit_diagonal);
  solve_triangle(matrix, Map<T>(b, n, columns, Eigen::OuterStride<>(b_stride)), lower, transpose, unit_diagonal);
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

// Triangles of at most this many rows are solved and factored by loops, larger ones in two parts.
constexpr int64_t kTriangle = 16;

/// `solve_right` for kRows rows of b, a column of which is a vector: n is at most kTriangle.
template <class T>
void solve_right_rows(const T* l, int64_t n, int64_t stride, T* b, int64_t rows, int64_t b_stride) {
  constexpr int64_t kRows = 32;
  using Lanes = Eigen::Array<T, kRows, 1>;
  Lanes x[kTriangle];
  T reciprocal[kTriangle];
  for (int64_t j = 0; j < n; ++j) reciprocal[j] = T(1) / l[j * stride + j];
  for (int64_t first = 0; first < rows; first += kRows, b += kRows * b_stride) {
    const int64_t count = std::min(kRows, rows - first);
    if (count < kRows)
      for (int64_t j = 0; j < n; ++j) x[j].setZero();
    for (int64_t i = 0; i < count; ++i)
      for (int64_t j = 0; j < n; ++j) x[j][i] = b[i * b_stride + j];
    for (int64_t j = 0; j < n; ++j) {
      Lanes sum = x[j];
      for (int64_t k = 0; k < j; ++k) sum -= l[j * stride + k] * x[k];
      x[j] = sum * reciprocal[j];
    }
    for (int64_t i = 0; i < count; ++i)
      for (int64_t j = 0; j < n; ++j) b[i * b_stride + j] = x[j][i];
  }
}

/// The first part of a triangle of n > kTriangle rows: a multiple of kTriangle.
int64_t first_part(int64_t n) { return (n / 2 + kTriangle - 1) / kTriangle * kTriangle; }

template <class T>
void solve_right(const T* l, int64_t n, int64_t stride, T* b, int64_t rows, int64_t b_stride) {
  if (n <= kTriangle) return solve_right_rows(l, n, stride, b, rows, b_stride);
  const int64_t half = first_part(n);
  solve_right(l, half, stride, b, rows, b_stride);
  subtract_product(b + half, b_stride, b, b_stride, l + half * stride, stride, rows, n - half, half, false);
  solve_right(l + half * stride + half, n - half, stride, b + half, rows, b_stride);
}

template <class T>
bool cholesky(T* a, int64_t n, int64_t stride) {
  if (n > kTriangle) {
    const int64_t half = first_part(n);
    T* const below = a + half * stride;
    if (!cholesky(a, half, stride)) return false;
    solve_right(a, half, stride, below, n - half, stride);
    subtract_product(below + half, stride, below, stride, below, stride, n - half, n - half, half, true);
    return cholesky(below + half, n - half, stride);
  }
  for (int64_t j = 0; j < n; ++j) {
    T* const row = a + j * stride;
    T pivot = row[j];
    for (int64_t k = 0; k < j; ++k) pivot -= row[k] * row[k];
    if (!(pivot > T(0))) return false;  // NaN as well
    row[j] = std::sqrt(pivot);
    const T reciprocal = T(1) / row[j];
    for (int64_t i = j + 1; i < n; ++i) {
      T* const other = a + i * stride;
      T sum = other[j];
      for (int64_t k = 0; k < j; ++k) sum -= other[k] * row[k];
      other[j] = sum * reciprocal;
    }
  }
  return true;
}

template <class T>
void transpose(const T* from, int64_t rows, int64_t columns, int64_t from_stride, T* to, int64_t to_stride) {
  using Packet = typename Eigen::internal::packet_traits<T>::type;
  constexpr int64_t kTile = Eigen::internal::unpacket_traits<Packet>::size;
  const auto one_by_one = [&](int64_t row, int64_t end, int64_t column, int64_t last) {
    for (int64_t i = row; i < end; ++i)
      for (int64_t c = column; c < last; ++c) to[c * to_stride + i] = from[i * from_stride + c];
  };
  const int64_t whole = columns - columns % kTile;
  int64_t i = 0;
  for (; i + kTile <= rows; i += kTile) {
    for (int64_t c = 0; c < whole; c += kTile) {
      Eigen::internal::PacketBlock<Packet, kTile> tile;
      for (int64_t k = 0; k < kTile; ++k)
        tile.packet[k] = Eigen::internal::ploadu<Packet>(from + (i + k) * from_stride + c);
      Eigen::internal::ptranspose(tile);
      for (int64_t k = 0; k < kTile; ++k) Eigen::internal::pstoreu(to + (c + k) * to_stride + i, tile.packet[k]);
    }
    one_by_one(i, i + kTile, whole, columns);
  }
  one_by_one(i, rows, 0, columns);
}

template <class T>
using Columns = Eigen::Map<Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>, 0, Eigen::OuterStride<>>;
template <class T>
using ConstColumns = Eigen::Map<const Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>, 0, Eigen::OuterStride<>>;

/// Products of halves of a panel, which has at most 64 columns.
template <class T>
using Small = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::ColMajor, 32, 32>;

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

// Panels of at most this many columns are reflected column by column, wider ones in two parts.
constexpr int64_t kReflections = 8;

/// A reflection of each of the columns [column, column + count) of p, as the primitive qr defines it: signs and columns
/// that are not reflected. The rows before `column` are done; v is zero, and the upper triangle of t is written.
template <class T>
void reflect_columns(Columns<T>& p, int64_t column, int64_t count, Columns<T>& v, Columns<T>& t) {
  const int64_t rows = p.rows(), last = column + count;
  if (count > kReflections) {
    // Elmroth and Gustavson, Applying recursion to serial and parallel QR factorization, 2000.
    const int64_t half = (count / 2 + kReflections - 1) / kReflections * kReflections, middle = column + half;
    reflect_columns(p, column, half, v, t);
    const auto left = v.block(column, column, rows - column, half);
    auto right = p.block(column, middle, rows - column, last - middle);
    const auto t_left = t.block(column, column, half, half);
    Small<T> product = left.transpose() * right;
    Small<T> update = t_left.transpose() * product;
    right.noalias() -= left * update;
    reflect_columns(p, middle, count - half, v, t);
    product.noalias() = v.block(middle, column, rows - middle, half).transpose() *
                        v.block(middle, middle, rows - middle, last - middle);
    update.noalias() = t_left * product;
    t.block(column, middle, half, last - middle).noalias() =
        -update * t.block(middle, middle, last - middle, last - middle);
    return;
  }
  for (int64_t k = column; k < last; ++k) {
    const int64_t below = rows - k - 1;
    const T alpha = p(k, k), squares = p.col(k).tail(below).squaredNorm();
    v(k, k) = T(1);
    T tau = 0;
    if (squares != T(0)) {
      const T beta = -std::copysign(std::sqrt(alpha * alpha + squares), alpha);
      tau = (beta - alpha) / beta;
      v.col(k).tail(below) = p.col(k).tail(below) * (T(1) / (alpha - beta));
      p(k, k) = beta;
      for (int64_t c = k + 1; c < last; ++c) {
        const T weight = tau * (p(k, c) + v.col(k).tail(below).dot(p.col(c).tail(below)));
        p(k, c) -= weight;
        p.col(c).tail(below) -= weight * v.col(k).tail(below);
      }
    }
    p.col(k).tail(below).setZero();
    t(k, k) = tau;
    // t's column k is -tau t (vᵀ v_k) above the diagonal (Schreiber and Van Loan, 1989).
    T products[kReflections];
    for (int64_t i = column; i < k; ++i) products[i - column] = v.col(i).tail(below + 1).dot(v.col(k).tail(below + 1));
    for (int64_t i = column; i < k; ++i) {
      T sum = 0;
      for (int64_t j = i; j < k; ++j) sum += t(i, j) * products[j - column];
      t(i, k) = -tau * sum;
    }
  }
}

template <class T>
using Lane = Eigen::Map<Eigen::Array<T, Eigen::Dynamic, 1>>;

/// A column of a complex panel from one of its rows on.
template <class T>
struct ComplexColumn {
  Lane<T> re, im;
  ComplexColumn(T* p, int64_t rows, int64_t column, int64_t first)
      : re(p + 2 * column * rows + first, rows - first), im(p + (2 * column + 1) * rows + first, rows - first) {}
};

template <class T>
void complex_lu_panel(T* p, int64_t rows, int64_t columns, int32_t* pivots) {
  for (int64_t k = 0; k < std::min(rows, columns); ++k) {
    ComplexColumn<T> column(p, rows, k, k);
    const T most = (column.re.abs() + column.im.abs()).template maxCoeff<Eigen::PropagateNumbers>();
    int64_t row = k;
    for (int64_t i = 0; i < rows - k; ++i)
      if (std::abs(column.re[i]) + std::abs(column.im[i]) == most) {
        row = k + i;
        break;
      }
    pivots[k] = static_cast<int32_t>(row);
    if (row != k)
      for (int64_t c = 0; c < 2 * columns; ++c) std::swap(p[c * rows + k], p[c * rows + row]);
    const int64_t below = rows - k - 1;
    if (below == 0) continue;
    const T re = column.re[0], im = column.im[0];
    const T size = std::max(std::abs(re), std::abs(im));
    ComplexColumn<T> factor(p, rows, k, k + 1);
    if (size != T(0)) {
      // Scaled by a power of two, so that the square of the pivot is a number.
      constexpr int kFar = std::numeric_limits<T>::max_exponent - 2;
      const T scale = std::isfinite(size) ? std::ldexp(T(1), -std::clamp(std::ilogb(size), -kFar, kFar)) : T(1);
      const T a = re * scale, b = im * scale, reciprocal = T(1) / (a * a + b * b);
      const T c = a * reciprocal, d = -b * reciprocal;
      for (int64_t i = 0; i < below; ++i) {
        const T x = factor.re[i] * scale, y = factor.im[i] * scale;
        factor.re[i] = x * c - y * d;
        factor.im[i] = x * d + y * c;
      }
    }
    for (int64_t c = k + 1; c < columns; ++c) {
      ComplexColumn<T> other(p, rows, c, k + 1);
      const T x = p[2 * c * rows + k], y = p[(2 * c + 1) * rows + k];
      other.re -= factor.re * x - factor.im * y;
      other.im -= factor.re * y + factor.im * x;
    }
  }
}

template <class T>
void qr_panel(T* data, int64_t rows, int64_t columns, int64_t stride, T* v_data, T* t_data) {
  Columns<T> p(data, rows, columns, Eigen::OuterStride<>(stride)), v(v_data, rows, columns, Eigen::OuterStride<>(rows)),
      t(t_data, columns, columns, Eigen::OuterStride<>(columns));
  v.setZero();
  t.setZero();
  reflect_columns(p, 0, columns, v, t);
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

extern const DenseRoutines<float> kFloats = {&cholesky<float>,
                                             &solve<float>,
                                             &solve_right<float>,
                                             &subtract_product<float>,
                                             &subtract_plain_product<float>,
                                             &lu_panel<float>,
                                             &complex_lu_panel<float>,
                                             &qr_panel<float>,
                                             &reflect<float>,
                                             &transpose<float>};
extern const DenseRoutines<double> kDoubles = {&cholesky<double>,
                                               &solve<double>,
                                               &solve_right<double>,
                                               &subtract_product<double>,
                                               &subtract_plain_product<double>,
                                               &lu_panel<double>,
                                               &complex_lu_panel<double>,
                                               &qr_panel<double>,
                                               &reflect<double>,
                                               &transpose<double>};

}  // namespace calque::runtime::CALQUE_LEVEL
