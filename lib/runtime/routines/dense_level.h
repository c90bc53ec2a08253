// The routines of one level: included by the source file of each, with CALQUE_LEVEL and Eigen defined as its names.
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

}  // namespace

extern const DenseRoutines<float> kFloats = {&cholesky<float>, &solve<float>, &solve_right<float>,
                                             &subtract_product<float>};
extern const DenseRoutines<double> kDoubles = {&cholesky<double>, &solve<double>, &solve_right<double>,
                                               &subtract_product<double>};

}  // namespace calque::runtime::CALQUE_LEVEL
