#pragma once
// Statistics, reductions under masks, and `max(x)`, `min(x)` as reductions. Axes may be negative; without axes all are
// reduced; `cq::keepdims` keeps reduced dimensions with extent 1.
#include <concepts>
#include <initializer_list>
#include <optional>

#include "calque/detail/recorded.h"
#include "calque/reductions.h"

namespace calque {

#define CALQUE_EXTREMUM(f, reduction)                                                                            \
  template <ArrayLike X>                                                                                         \
  [[nodiscard]] out_t<elem_t<X>, X> f(const X& x, Loc loc = Loc::current()) {                                    \
    const auto erased = [&](detail::Operands o) { return detail::ops::reduction(o[0], Axes(), false, loc); };    \
    return detail::recorded<elem_t<X>>(#f, loc, erased, x);                                                      \
  }                                                                                                              \
  template <ArrayLike X, std::same_as<Axes> A>                                                                   \
  [[nodiscard]] out_t<elem_t<X>, X> f(const X& x, const A& axes, KeepDims keep = {}, Loc loc = Loc::current()) { \
    const auto erased = [&](detail::Operands o) { return detail::ops::reduction(o[0], axes, keep.value, loc); }; \
    return detail::recorded<elem_t<X>>(#f, loc, erased, x);                                                      \
  }                                                                                                              \
  template <ArrayLike X>                                                                                         \
  [[nodiscard]] out_t<elem_t<X>, X> f(const X& x, std::initializer_list<int> axes, KeepDims keep = {},           \
                                      Loc loc = Loc::current()) {                                                \
    return f(x, Axes(axes), keep, loc);                                                                          \
  }
/// The greatest element of x, as `amax(x)`; over axes `max(x, {0, 1})`, `amax(x, -1)` or `max(x, cq::Axes(-1))`,
/// because `max(x, -1)` is `maximum` of x and a number. Throws ShapeError when there are no elements or for an axis out
/// of range, DTypeError for complex x.
///     max(D{{1, 5}, {4, 2}}, {0})  // [4. 5.]
CALQUE_EXTREMUM(max, amax)
/// The smallest element of x, as `amin(x)`; otherwise as `max`.
///     min(D{{1, 5}, {4, 2}}, {0})  // [1. 2.]
CALQUE_EXTREMUM(min, amin)
#undef CALQUE_EXTREMUM

/// A reduction over the elements where a mask is true: `mean(x, {.where = x > 0, .axes = {0}})`. The mask, of bool,
/// broadcasts to x; inside a trace x is a tracer when the mask is one.
struct Masked {
  detail::Mask where;
  Axes axes{};
  KeepDims keepdims{};
};
#define CALQUE_MASKED(f, R)                                                             \
  template <ArrayLike X>                                                                \
  [[nodiscard]] out_t<R, X> f(const X& x, const Masked& of, Loc loc = Loc::current()) { \
    const detail::Operand all[] = {detail::operand_of(x, loc), of.where.operand};       \
    const auto erased = [&](detail::Operands o) {                                       \
      return detail::ops::f##_where(o[0], o[1], of.axes, of.keepdims.value, loc);       \
    };                                                                                  \
    return detail::apply_to<out_t<R, X>>(#f, loc, all, erased);                         \
  }
/// The sum of the elements under a mask; 0 for none. Otherwise as `sum(x, axes)`; throws ShapeError also when the mask
/// does not broadcast to x.
///     D x = {-1, 2, 3};
///     sum(x, {.where = x > 0})  // 5.0
CALQUE_MASKED(sum, sum_t<elem_t<X>>)
/// The product of the elements under a mask; 1 for none.
///     D x = {-1, 2, 3};
///     prod(x, {.where = x > 0})  // 6.0
CALQUE_MASKED(prod, sum_t<elem_t<X>>)
/// The mean of the elements under a mask; NaN for none.
///     D x = {-1, 2, 3};
///     mean(x, {.where = x > 0})  // 2.5
CALQUE_MASKED(mean, inexact_t<elem_t<X>>)
/// The greatest element under a mask; -infinity, or the least integer, for none.
///     D x = {1, 2, 30};
///     amax(x, {.where = x < 9})  // 2.0
CALQUE_MASKED(amax, elem_t<X>)
/// The smallest element under a mask; infinity, or the greatest integer, for none.
///     D x = {-1, 2, 30};
///     amin(x, {.where = x > 0})  // 2.0
CALQUE_MASKED(amin, elem_t<X>)
/// Whether any element under a mask is not 0; false for none.
///     D x = {-1, 0, 0};
///     any(x, {.where = x >= 0})  // False
CALQUE_MASKED(any, bool)
namespace ops {
/// Whether all elements under a mask are not 0; true for none. Called as `all(x, {.where = mask})`.
///     D x = {0, 2, 3};
///     all(x, {.where = x > 0})  // True
CALQUE_MASKED(all, bool)
}  // namespace ops
#undef CALQUE_MASKED
template <ArrayLike X>
out_t<bool, X> all_t::operator()(const X& x, const Masked& of, Loc loc) const {
  return ops::all(x, of, loc);
}

/// The variance over the elements where a mask is true, divided by their number less `ddof`.
struct MaskedVariance {
  detail::Mask where;
  Axes axes{};
  double ddof = 0;
  KeepDims keepdims{};
};
/// The divisor of a variance is the number of elements less `ddof`: 1 for that of a sample.
struct VarianceOptions {
  double ddof = 0;
  KeepDims keepdims{};
};
#define CALQUE_VARIANCE(f)                                                                                         \
  template <ArrayLike X>                                                                                           \
  [[nodiscard]] out_t<inexact_t<elem_t<X>>, X> f(const X& x, const Axes& axes, VarianceOptions options,            \
                                                 Loc loc = Loc::current()) {                                       \
    const auto erased = [&](detail::Operands o) {                                                                  \
      return detail::ops::f##_ddof(o[0], axes, options.ddof, options.keepdims.value, loc);                         \
    };                                                                                                             \
    return detail::recorded<inexact_t<elem_t<X>>>(#f, loc, erased, x);                                             \
  }                                                                                                                \
  template <ArrayLike X>                                                                                           \
  [[nodiscard]] out_t<inexact_t<elem_t<X>>, X> f(const X& x, const MaskedVariance& of, Loc loc = Loc::current()) { \
    const detail::Operand all[] = {detail::operand_of(x, loc), of.where.operand};                                  \
    const auto erased = [&](detail::Operands o) {                                                                  \
      return detail::ops::f##_where(o[0], o[1], of.axes, of.ddof, of.keepdims.value, loc);                         \
    };                                                                                                             \
    return detail::apply_to<out_t<inexact_t<elem_t<X>>, X>>(#f, loc, all, erased);                                 \
  }
/// The variance with another divisor, `var(x, {0}, {.ddof = 1})`, or under a mask, `var(x, {.where = mask})`; NaN where
/// the divisor is not positive. Otherwise as `var(x, axes)`.
///     var(D{1, 2, 3, 4}, {0}, {.ddof = 1})  // 1.66666667
CALQUE_VARIANCE(var)
/// The standard deviation, the root of `var` with the same options.
///     stddev(D{1, 2, 3}, {0}, {.ddof = 1})  // 1.0
CALQUE_VARIANCE(stddev)
#undef CALQUE_VARIANCE

/// The greatest element less the smallest, over the axes; NaN if any is. Of x's type; integers wrap. Throws ShapeError
/// when there are no elements or for an axis out of range, DTypeError for bools and complex numbers.
///     ptp(D{{1, 5}, {4, 2}}, {1})  // [4. 2.]
template <ArrayLike X>
[[nodiscard]] out_t<elem_t<X>, X> ptp(const X& x, Axes axes = {}, KeepDims keep = {}, Loc loc = Loc::current()) {
  const auto f = [&](detail::Operands o) { return detail::ops::ptp(o[0], axes, keep.value, loc); };
  return detail::recorded<elem_t<X>>("ptp", loc, f, x);
}
/// The number (i32) of elements that are not 0, over the axes. Throws ShapeError for an axis out of range.
///     count_nonzero(D{{0, 5}, {4, 2}}, {0})  // [1 2]
template <ArrayLike X>
[[nodiscard]] out_t<int32_t, X> count_nonzero(const X& x, Axes axes = {}, KeepDims keep = {},
                                              Loc loc = Loc::current()) {
  const auto f = [&](detail::Operands o) { return detail::ops::count_nonzero(o[0], axes, keep.value, loc); };
  return detail::recorded<int32_t>("count_nonzero", loc, f, x);
}
/// The sum of x * weights over the axes, divided by that of the weights, as numpy.average; weights are of x's shape or
/// of that of the axes alone. Of the promoted type (integers and bool: f32); NaN where the weights sum to 0. Throws
/// ShapeError when the weights do not fit or for an axis out of range.
///     average(D{1, 2, 4}, D{3, 1, 0})  // 1.25
template <ArrayLike X, ArrayLike W>
[[nodiscard]] out_t<inexact_t<promoted_elem_t<X, W>>, X, W> average(const X& x, const W& weights, Axes axes = {},
                                                                    KeepDims keep = {}, Loc loc = Loc::current()) {
  const auto f = [&](detail::Operands o) { return detail::ops::average(o[0], o[1], axes, keep.value, loc); };
  return detail::recorded<inexact_t<promoted_elem_t<X, W>>>("average", loc, f, x, weights);
}

/// Options of `cov` and `corrcoef`.
struct CovOptions {
  /// Each row is a variable and each column an observation, else the reverse.
  bool rowvar = true;
  /// Divides by the number of observations, else by one less.
  bool bias = false;
  /// The number of observations less this divides, whatever `bias` is.
  std::optional<int64_t> ddof{};
};
namespace detail {
inline int64_t covariance_ddof(const CovOptions& options) { return options.ddof.value_or(options.bias ? 0 : 1); }
}  // namespace detail
/// The covariances [n, n] of n variables, as numpy.cov; a scalar for a vector x, one variable. Of x's type (integers
/// and bool: f32). Throws ShapeError for ranks above 2.
///     cov(D{{0, 1, 2}, {2, 1, 0}})  // [[ 1. -1.]
///                                   //  [-1.  1.]]
template <ArrayLike X>
[[nodiscard]] out_t<inexact_t<elem_t<X>>, X> cov(const X& x, CovOptions options = {}, Loc loc = Loc::current()) {
  const auto f = [&](detail::Operands o) {
    return detail::ops::cov(o, options.rowvar, detail::covariance_ddof(options), loc);
  };
  return detail::recorded<inexact_t<elem_t<X>>>("cov", loc, f, x);
}
/// The covariances of the variables of x, then those of y, of the promoted type. Throws ShapeError also when the
/// numbers of observations differ.
///     cov(D{0, 1, 2}, D{0, 2, 4})  // [[1. 2.]
///                                  //  [2. 4.]]
template <ArrayLike X, ArrayLike Y>
[[nodiscard]] out_t<inexact_t<promoted_elem_t<X, Y>>, X, Y> cov(const X& x, const Y& y, CovOptions options = {},
                                                                Loc loc = Loc::current()) {
  const auto f = [&](detail::Operands o) {
    return detail::ops::cov(o, options.rowvar, detail::covariance_ddof(options), loc);
  };
  return detail::recorded<inexact_t<promoted_elem_t<X, Y>>>("cov", loc, f, x, y);
}
/// The coefficients of correlation, the covariances divided by the standard deviations of both variables, in [-1, 1].
/// Shapes, types, errors and `rowvar` as for `cov`; NaN for variables that are constant.
///     corrcoef(D{{0, 1, 2}, {2, 1, 0}})  // [[ 1. -1.]
///                                        //  [-1.  1.]]
template <ArrayLike X>
[[nodiscard]] out_t<inexact_t<elem_t<X>>, X> corrcoef(const X& x, CovOptions options = {}, Loc loc = Loc::current()) {
  const auto f = [&](detail::Operands o) { return detail::ops::corrcoef(o, options.rowvar, loc); };
  return detail::recorded<inexact_t<elem_t<X>>>("corrcoef", loc, f, x);
}
/// The same of the variables of x, then those of y.
///     corrcoef(D{0, 1, 2}, D{0, 2, 4})  // [[1. 1.]
///                                       //  [1. 1.]]
template <ArrayLike X, ArrayLike Y>
[[nodiscard]] out_t<inexact_t<promoted_elem_t<X, Y>>, X, Y> corrcoef(const X& x, const Y& y, CovOptions options = {},
                                                                     Loc loc = Loc::current()) {
  const auto f = [&](detail::Operands o) { return detail::ops::corrcoef(o, options.rowvar, loc); };
  return detail::recorded<inexact_t<promoted_elem_t<X, Y>>>("corrcoef", loc, f, x, y);
}

}  // namespace calque
