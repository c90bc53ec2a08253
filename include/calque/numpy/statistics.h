#pragma once
// Statistics, reductions under masks, and `max(x)`, `min(x)` as reductions. Axes may be negative; without axes all are
// reduced; `cq::keepdims` keeps reduced dimensions with extent 1.
#include <concepts>
#include <initializer_list>
#include <optional>
#include <vector>

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

/// A reduction over the elements where a mask is true: `mean(x, {.where = x > 0, .axes = {0}})`. The mask, an array or
/// tracer of bool, broadcasts to x; the result is a tracer if x or the mask is one.
template <class Mask>
struct BasicMasked {
  Mask where;
  Axes axes{};
  KeepDims keepdims{};
};
/// The options of a reduction under a mask that is an array.
using Masked = BasicMasked<detail::Mask>;
/// The same with the element that a reduction starts from, which counts as one more: `{.where = mask, .initial = 0}`.
template <class Mask, class T>
struct BasicMaskedFold {
  Mask where;
  Axes axes{};
  std::optional<T> initial{};
  KeepDims keepdims{};
};
#define CALQUE_MASKED_OF(f, R, Out, Mask)                                                          \
  template <ArrayLike X>                                                                           \
  [[nodiscard]] Out f(const X& x, const BasicMasked<detail::Mask>& of, Loc loc = Loc::current()) { \
    const detail::Operand all[] = {detail::operand_of(x, loc), of.where.operand};                  \
    const auto erased = [&](detail::Operands o) {                                                  \
      return detail::ops::f##_where(o[0], o[1], of.axes, of.keepdims.value, loc);                  \
    };                                                                                             \
    return detail::apply_to<Out>(#f, loc, all, erased);                                            \
  }
#define CALQUE_MASKED(f, R)                             \
  CALQUE_MASKED_OF(f, R, CALQUE_OUT(out_t<R, X>), Mask) \
  CALQUE_MASKED_OF(f, R, Tracer<R>, TracerMask)
#define CALQUE_OUT(...) __VA_ARGS__
#define CALQUE_MASKED_FOLD_OF(f, g, R, Out, Mask)                                                            \
  template <ArrayLike X>                                                                                     \
  [[nodiscard]] Out f(const X& x, const BasicMaskedFold<detail::Mask, R>& of, Loc loc = Loc::current()) {    \
    const detail::Operand all[] = {detail::operand_of(x, loc), of.where.operand};                            \
    const auto erased = [&](detail::Operands o) {                                                            \
      const auto initial = detail::fill_of(of.initial);                                                      \
      return detail::ops::g##_where_from(o[0], o[1], of.axes, of.keepdims.value, detail::get(initial), loc); \
    };                                                                                                       \
    return detail::apply_to<Out>(#f, loc, all, erased);                                                      \
  }
#define CALQUE_MASKED_FOLD(f, g, R)                             \
  CALQUE_MASKED_FOLD_OF(f, g, R, CALQUE_OUT(out_t<R, X>), Mask) \
  CALQUE_MASKED_FOLD_OF(f, g, R, Tracer<R>, TracerMask)
/// The sum of the elements under a mask, and of `initial`; 0 for none. Otherwise as `sum(x, axes)`; throws ShapeError
/// also when the mask does not broadcast to x.
///     D x = {-1, 2, 3};
///     sum(x, {.where = x > 0})  // 5.0
CALQUE_MASKED_FOLD(sum, sum, sum_t<elem_t<X>>)
/// The product of the elements under a mask, and of `initial`; 1 for none.
///     D x = {-1, 2, 3};
///     prod(x, {.where = x > 0})  // 6.0
CALQUE_MASKED_FOLD(prod, prod, sum_t<elem_t<X>>)
/// The mean of the elements under a mask; NaN for none.
///     D x = {-1, 2, 3};
///     mean(x, {.where = x > 0})  // 2.5
CALQUE_MASKED(mean, inexact_t<elem_t<X>>)
/// The greatest element under a mask, or `initial` where that is greater; without it -infinity, or the least integer,
/// for none. With it there may be no elements at all.
///     D x = {1, 2, 30};
///     amax(x, {.where = x < 9, .initial = 0})  // 2.0
CALQUE_MASKED_FOLD(amax, amax, elem_t<X>)
/// The smallest element under a mask, or `initial` where that is smaller; without it infinity, or the greatest integer,
/// for none. With it there may be no elements at all.
///     D x = {-1, 2, 30};
///     amin(x, {.where = x > 0})  // 2.0
CALQUE_MASKED_FOLD(amin, amin, elem_t<X>)
/// `amax` under a mask.
///     D x = {1, 2, 30};
///     max(x, {.where = x < 9})  // 2.0
CALQUE_MASKED_FOLD(max, amax, elem_t<X>)
/// `amin` under a mask.
///     D x = {-1, 2, 30};
///     min(x, {.where = x > 0})  // 2.0
CALQUE_MASKED_FOLD(min, amin, elem_t<X>)
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
#undef CALQUE_MASKED_OF
#undef CALQUE_MASKED
#undef CALQUE_MASKED_FOLD_OF
#undef CALQUE_MASKED_FOLD
namespace detail {
/// What `{.initial = 0}` without a mask would be, and `{.keepdims = true}`: errors, since g++ reads them as axes.
struct InitialWithoutMask {
  struct Unnamed {};
  struct Given {
    template <class T>
    Given(T) {}
  };
  Unnamed unnamed{};
  Axes axes{};
  Given initial;
  KeepDims keepdims{};
};
struct KeepDimsWithoutMask {
  InitialWithoutMask::Unnamed unnamed{};
  Axes axes{};
  InitialWithoutMask::Given keepdims;
};
}  // namespace detail
#define CALQUE_WITHOUT_MASK_OF(f, Options, why)    \
  template <ArrayLike X>                           \
  X f(const X& x, const detail::Options&) {        \
    static_assert(sizeof(X) == 0, "calque: " why); \
    return x;                                      \
  }
#define CALQUE_WITHOUT_MASK(f)                                                                                   \
  CALQUE_WITHOUT_MASK_OF(f, InitialWithoutMask,                                                                  \
                         "an initial element stands beside a mask: " #f "(x, {.where = cq::all, .initial = 0})") \
  CALQUE_WITHOUT_MASK_OF(f, KeepDimsWithoutMask,                                                                 \
                         "axes and keepdims are arguments of their own: " #f "(x, {0}, cq::keepdims)")
CALQUE_WITHOUT_MASK(sum)
CALQUE_WITHOUT_MASK(prod)
CALQUE_WITHOUT_MASK(amax)
CALQUE_WITHOUT_MASK(amin)
CALQUE_WITHOUT_MASK(max)
CALQUE_WITHOUT_MASK(min)
CALQUE_WITHOUT_MASK_OF(mean, KeepDimsWithoutMask,
                       "axes and keepdims are arguments of their own: mean(x, {0}, cq::keepdims)")
#undef CALQUE_WITHOUT_MASK
#undef CALQUE_WITHOUT_MASK_OF

template <ArrayLike X>
out_t<bool, X> all_t::operator()(const X& x, const BasicMasked<detail::Mask>& of, Loc loc) const {
  return ops::all(x, of, loc);
}
template <ArrayLike X>
Tracer<bool> all_t::operator()(const X& x, const BasicMasked<detail::TracerMask>& of, Loc loc) const {
  return ops::all(x, of, loc);
}

/// The variance over the elements where a mask is true, divided by their number less `ddof`.
template <class Mask>
struct BasicMaskedVariance {
  Mask where;
  Axes axes{};
  double ddof = 0;
  KeepDims keepdims{};
};
/// The options of a variance under a mask that is an array.
using MaskedVariance = BasicMaskedVariance<detail::Mask>;
/// The divisor of a variance is the number of elements less `ddof`: 1 for that of a sample.
struct VarianceOptions {
  double ddof = 0;
  KeepDims keepdims{};
};
namespace detail {
/// What `{.ddof = 1}` alone would be: an error, since g++ reads it as the axis 1.
struct OptionsWithoutAxes {
  struct Unnamed {};
  struct Given {
    Given(double) {}
  };
  Unnamed unnamed{};
  Given ddof;
  KeepDims keepdims{};
};
}  // namespace detail
#define CALQUE_VARIANCE_OF(f, Out, Mask)                                                                   \
  template <ArrayLike X>                                                                                   \
  [[nodiscard]] Out f(const X& x, const BasicMaskedVariance<detail::Mask>& of, Loc loc = Loc::current()) { \
    const detail::Operand all[] = {detail::operand_of(x, loc), of.where.operand};                          \
    const auto erased = [&](detail::Operands o) {                                                          \
      return detail::ops::f##_where(o[0], o[1], of.axes, of.ddof, of.keepdims.value, loc);                 \
    };                                                                                                     \
    return detail::apply_to<Out>(#f, loc, all, erased);                                                    \
  }
#define CALQUE_VARIANCE(f)                                                                              \
  template <ArrayLike X>                                                                                \
  [[nodiscard]] out_t<inexact_t<elem_t<X>>, X> f(const X& x, const Axes& axes, VarianceOptions options, \
                                                 Loc loc = Loc::current()) {                            \
    const auto erased = [&](detail::Operands o) {                                                       \
      return detail::ops::f##_ddof(o[0], axes, options.ddof, options.keepdims.value, loc);              \
    };                                                                                                  \
    return detail::recorded<inexact_t<elem_t<X>>>(#f, loc, erased, x);                                  \
  }                                                                                                     \
  template <ArrayLike X>                                                                                \
  out_t<inexact_t<elem_t<X>>, X> f(const X& x, const detail::OptionsWithoutAxes&) {                     \
    static_assert(sizeof(X) == 0, "calque: axes stand before the options: " #f "(x, {}, {.ddof = 1})"); \
    return f(x);                                                                                        \
  }                                                                                                     \
  CALQUE_VARIANCE_OF(f, CALQUE_OUT(out_t<inexact_t<elem_t<X>>, X>), Mask)                               \
  CALQUE_VARIANCE_OF(f, Tracer<inexact_t<elem_t<X>>>, TracerMask)
/// The variance with another divisor, `var(x, {0}, {.ddof = 1})`, or under a mask, `var(x, {.where = mask})`; NaN where
/// the divisor is not positive. Otherwise as `var(x, axes)`.
///     var(D{1, 2, 3, 4}, {0}, {.ddof = 1})  // 1.66666667
CALQUE_VARIANCE(var)
/// The standard deviation, the root of `var` with the same options.
///     stddev(D{1, 2, 3}, {0}, {.ddof = 1})  // 1.0
CALQUE_VARIANCE(stddev)
#undef CALQUE_VARIANCE
#undef CALQUE_VARIANCE_OF
#undef CALQUE_OUT

#define CALQUE_POSITION(f)                                                                                         \
  template <ArrayLike X>                                                                                           \
  [[nodiscard]] out_t<int32_t, X> f(const X& x, Loc loc = Loc::current()) {                                        \
    const auto erased = [&](detail::Operands o) { return detail::ops::f(detail::ops::ravel(o[0], loc), 0, loc); }; \
    return detail::recorded<int32_t>(#f, loc, erased, x);                                                          \
  }                                                                                                                \
  template <ArrayLike X>                                                                                           \
  [[nodiscard]] out_t<int32_t, X> f(const X& x, int axis, KeepDims keep, Loc loc = Loc::current()) {               \
    const auto erased = [&](detail::Operands o) { return detail::ops::f##_kept(o[0], axis, keep.value, loc); };    \
    return detail::recorded<int32_t>(#f, loc, erased, x);                                                          \
  }
/// The index (i32) of the greatest element in row-major order, or `argmax(x, axis, cq::keepdims)`. Otherwise as
/// `argmax(x, axis)`.
///     argmax(D{{1, 5}, {9, 2}})  // 2
CALQUE_POSITION(argmax)
/// The index (i32) of the smallest element in row-major order, or `argmin(x, axis, cq::keepdims)`. Otherwise as
/// `argmin(x, axis)`.
///     argmin(D{{4, 5}, {1, 2}})  // 2
CALQUE_POSITION(argmin)
#undef CALQUE_POSITION

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

/// The mean over the axes, of x's type (integers and bool: f32). Throws ShapeError for an axis out of range.
///     average(D{{1, 2}, {3, 4}}, 0)  // [2. 3.]
template <ArrayLike X>
[[nodiscard]] out_t<inexact_t<elem_t<X>>, X> average(const X& x, Axes axes = {}, KeepDims keep = {},
                                                     Loc loc = Loc::current()) {
  const auto f = [&](detail::Operands o) { return detail::ops::mean(o[0], axes, keep.value, loc); };
  return detail::recorded<inexact_t<elem_t<X>>>("average", loc, f, x);
}
/// The type of `cq::returned`.
struct returned_t {};
/// `average(x, weights, axes, cq::returned)`: the sums of the weights as well.
inline constexpr returned_t returned{};
/// (average, sum of the weights), both of the average's shape and type. Otherwise as `average`.
///     average(D{1, 2, 4}, D{3, 1, 0}, {0}, returned)  // 1.25, 4.0
template <ArrayLike X, ArrayLike W>
[[nodiscard]] auto average(const X& x, const W& weights, Axes axes, returned_t, KeepDims keep = {},
                           Loc loc = Loc::current()) {
  using Out = out_t<inexact_t<promoted_elem_t<X, W>>, X, W>;
  const auto f = [&](detail::Operands o) { return detail::ops::average_and_sum(o[0], o[1], axes, keep.value, loc); };
  return detail::apply_tuple<Out, Out>("average", loc, f, x, weights);
}

/// Options of `cov` and `corrcoef`.
struct CovOptions {
  /// Each row is a variable and each column an observation, else the reverse.
  bool rowvar = true;
  /// Divides by the number of observations, else by one less.
  bool bias = false;
  /// The number of observations less this divides, whatever `bias` is.
  std::optional<int64_t> ddof{};
  /// How often each observation counts: a vector of integers.
  detail::Weights fweights{};
  /// The relative weight of each observation: a vector of real numbers.
  detail::Weights aweights{};
};
namespace detail {
inline int64_t covariance_ddof(const CovOptions& options) { return options.ddof.value_or(options.bias ? 0 : 1); }
/// Appends the weights as operands. Returns which there are.
inline WeightsGiven add_weights(std::vector<Operand>& operands, const CovOptions& options) {
  if (options.fweights.operand) operands.push_back(*options.fweights.operand);
  if (options.aweights.operand) operands.push_back(*options.aweights.operand);
  return {options.fweights.operand.has_value(), options.aweights.operand.has_value()};
}
}  // namespace detail
/// The covariances [n, n] of n variables, as numpy.cov; a scalar for a vector x, one variable. Of x's type (integers
/// and bool: f32). With weights the divisor is the sum of fweights * aweights less ddof times the mean of aweights
/// under these; inside a trace x is a tracer when weights are. Throws ShapeError for ranks above 2 and unless there is
/// a weight for each observation, DTypeError for fweights that are not integers and complex aweights.
///     cov(D{{0, 1, 2}, {2, 1, 0}})  // [[ 1. -1.]
///                                   //  [-1.  1.]]
template <ArrayLike X>
[[nodiscard]] out_t<inexact_t<elem_t<X>>, X> cov(const X& x, CovOptions options = {}, Loc loc = Loc::current()) {
  std::vector<detail::Operand> all{detail::operand_of(x, loc)};
  const detail::WeightsGiven given = detail::add_weights(all, options);
  const auto f = [&](detail::Operands o) {
    return detail::ops::cov_weighted(o, 1, options.rowvar, detail::covariance_ddof(options), given, loc);
  };
  return detail::apply_to<out_t<inexact_t<elem_t<X>>, X>>("cov", loc, all, f);
}
/// The covariances of the variables of x, then those of y, of the promoted type. Throws ShapeError also when the
/// numbers of observations differ.
///     cov(D{0, 1, 2}, D{0, 2, 4})  // [[1. 2.]
///                                  //  [2. 4.]]
template <ArrayLike X, ArrayLike Y>
[[nodiscard]] out_t<inexact_t<promoted_elem_t<X, Y>>, X, Y> cov(const X& x, const Y& y, CovOptions options = {},
                                                                Loc loc = Loc::current()) {
  std::vector<detail::Operand> all{detail::operand_of(x, loc), detail::operand_of(y, loc)};
  const detail::WeightsGiven given = detail::add_weights(all, options);
  const auto f = [&](detail::Operands o) {
    return detail::ops::cov_weighted(o, 2, options.rowvar, detail::covariance_ddof(options), given, loc);
  };
  return detail::apply_to<out_t<inexact_t<promoted_elem_t<X, Y>>, X, Y>>("cov", loc, all, f);
}
/// The coefficients of correlation, the covariances divided by the standard deviations of both variables, in [-1, 1].
/// Shapes, types, errors and `rowvar` as for `cov`; NaN for variables that are constant.
///     corrcoef(D{{0, 1, 2}, {2, 1, 0}})  // [[ 1. -1.]
///                                        //  [-1.  1.]]
template <ArrayLike X>
[[nodiscard]] out_t<inexact_t<elem_t<X>>, X> corrcoef(const X& x, CovOptions options = {}, Loc loc = Loc::current()) {
  std::vector<detail::Operand> all{detail::operand_of(x, loc)};
  const detail::WeightsGiven given = detail::add_weights(all, options);
  const auto f = [&](detail::Operands o) { return detail::ops::corrcoef_weighted(o, 1, options.rowvar, given, loc); };
  return detail::apply_to<out_t<inexact_t<elem_t<X>>, X>>("corrcoef", loc, all, f);
}
/// The same of the variables of x, then those of y.
///     corrcoef(D{0, 1, 2}, D{0, 2, 4})  // [[1. 1.]
///                                       //  [1. 1.]]
template <ArrayLike X, ArrayLike Y>
[[nodiscard]] out_t<inexact_t<promoted_elem_t<X, Y>>, X, Y> corrcoef(const X& x, const Y& y, CovOptions options = {},
                                                                     Loc loc = Loc::current()) {
  std::vector<detail::Operand> all{detail::operand_of(x, loc), detail::operand_of(y, loc)};
  const detail::WeightsGiven given = detail::add_weights(all, options);
  const auto f = [&](detail::Operands o) { return detail::ops::corrcoef_weighted(o, 2, options.rowvar, given, loc); };
  return detail::apply_to<out_t<inexact_t<promoted_elem_t<X, Y>>, X, Y>>("corrcoef", loc, all, f);
}

}  // namespace calque
