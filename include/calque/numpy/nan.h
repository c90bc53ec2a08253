#pragma once
// Reductions that ignore NaN, with NumPy's names, and the replacement of NaN and infinities. Of integers they are the
// functions without "nan". Axes may be negative; without axes all are reduced.
#include <optional>

#include "calque/detail/recorded.h"
#include "calque/numpy/statistics.h"

namespace calque {

#define CALQUE_NAN_REDUCE(f, R)                                                                           \
  template <ArrayLike X>                                                                                  \
  [[nodiscard]] out_t<R, X> f(const X& x, Axes axes = {}, KeepDims keep = {}, Loc loc = Loc::current()) { \
    const auto erased = [&](detail::Operands o) { return detail::ops::f(o[0], axes, keep.value, loc); };  \
    return detail::recorded<R>(#f, loc, erased, x);                                                       \
  }
/// The sum of the elements that are not NaN; 0 for none. Of x's type (bool: i32). Throws ShapeError for an axis out of
/// range or given twice.
///     nansum(D{1, NAN, 3})  // 4.0
CALQUE_NAN_REDUCE(nansum, sum_t<elem_t<X>>)
/// The product of the elements that are not NaN; 1 for none. Types and errors as for `nansum`.
///     nanprod(D{2, NAN, 3})  // 6.0
CALQUE_NAN_REDUCE(nanprod, sum_t<elem_t<X>>)
/// The mean of the elements that are not NaN; NaN for none. Of x's type (integers and bool: f32). Errors as for
/// `nansum`.
///     nanmean(D{1, NAN, 3})  // 2.0
CALQUE_NAN_REDUCE(nanmean, inexact_t<elem_t<X>>)
/// The greatest element that is not NaN; NaN for none. Of x's type. Throws ShapeError when there are no elements or for
/// an axis out of range or given twice, DTypeError for complex x.
///     nanmax(D{1, NAN, 3})  // 3.0
CALQUE_NAN_REDUCE(nanmax, elem_t<X>)
/// The smallest element that is not NaN; NaN for none. Types and errors as for `nanmax`.
///     nanmin(D{1, NAN, 3})  // 1.0
CALQUE_NAN_REDUCE(nanmin, elem_t<X>)
#undef CALQUE_NAN_REDUCE

#define CALQUE_OUT(...) __VA_ARGS__
#define CALQUE_NAN_MASKED_FOLD_OF(f, R, Out, Mask)                                                           \
  template <ArrayLike X>                                                                                     \
  [[nodiscard]] Out f(const X& x, const BasicMaskedFold<detail::Mask, R>& of, Loc loc = Loc::current()) {    \
    const detail::Operand all[] = {detail::operand_of(x, loc), of.where.operand};                            \
    const auto erased = [&](detail::Operands o) {                                                            \
      const auto initial = detail::fill_of(of.initial);                                                      \
      return detail::ops::f##_where_from(o[0], o[1], of.axes, of.keepdims.value, detail::get(initial), loc); \
    };                                                                                                       \
    return detail::apply_to<Out>(#f, loc, all, erased);                                                      \
  }
#define CALQUE_NAN_MASKED_FOLD(f, R)                             \
  CALQUE_NAN_MASKED_FOLD_OF(f, R, CALQUE_OUT(out_t<R, X>), Mask) \
  CALQUE_NAN_MASKED_FOLD_OF(f, R, Tracer<R>, TracerMask)
/// `nansum` of the elements under a mask, and of `initial`, as `sum(x, {.where = mask})`.
///     nansum(D{1, NAN, 3}, {.where = B{true, true, false}})  // 1.0
CALQUE_NAN_MASKED_FOLD(nansum, sum_t<elem_t<X>>)
/// `nanprod` of the elements under a mask, and of `initial`.
///     nanprod(D{2, NAN, 3}, {.where = B{true, true, false}})  // 2.0
CALQUE_NAN_MASKED_FOLD(nanprod, sum_t<elem_t<X>>)
/// `nanmax` of the elements under a mask, and of `initial`; without it NaN for none, or the least integer.
///     nanmax(D{1, NAN, 3}, {.where = all, .initial = 5})  // 5.0
CALQUE_NAN_MASKED_FOLD(nanmax, elem_t<X>)
/// `nanmin` of the elements under a mask, and of `initial`; without it NaN for none, or the greatest integer.
///     nanmin(D{1, NAN, 3}, {.where = B{false, true, true}})  // 3.0
CALQUE_NAN_MASKED_FOLD(nanmin, elem_t<X>)
#undef CALQUE_NAN_MASKED_FOLD_OF
#undef CALQUE_NAN_MASKED_FOLD

#define CALQUE_NAN_MASKED_OF(Out, Mask)                                                                  \
  template <ArrayLike X>                                                                                 \
  [[nodiscard]] Out nanmean(const X& x, const BasicMasked<detail::Mask>& of, Loc loc = Loc::current()) { \
    const detail::Operand all[] = {detail::operand_of(x, loc), of.where.operand};                        \
    const auto erased = [&](detail::Operands o) {                                                        \
      return detail::ops::nanmean_where(o[0], o[1], of.axes, of.keepdims.value, loc);                    \
    };                                                                                                   \
    return detail::apply_to<Out>("nanmean", loc, all, erased);                                           \
  }
/// `nanmean` of the elements under a mask.
///     nanmean(D{1, NAN, 3}, {.where = B{true, true, false}})  // 1.0
CALQUE_NAN_MASKED_OF(CALQUE_OUT(out_t<inexact_t<elem_t<X>>, X>), Mask)
CALQUE_NAN_MASKED_OF(Tracer<inexact_t<elem_t<X>>>, TracerMask)
#undef CALQUE_NAN_MASKED_OF

/// Options of `nanvar` and `nanstd`.
struct NanVarianceOptions {
  Axes axes{};
  /// The divisor is the number of elements that are not NaN less this.
  double ddof = 0;
  KeepDims keepdims{};
};
/// The variance of the elements that are not NaN; NaN where the divisor is not positive:
/// `nanvar(x, {.axes = {0}, .ddof = 1})`. Of x's type (integers and bool: f32). Throws ShapeError for an axis out of
/// range or given twice, DTypeError for complex x.
///     nanvar(D{1, NAN, 3})  // 1.0
template <ArrayLike X>
[[nodiscard]] out_t<inexact_t<elem_t<X>>, X> nanvar(const X& x, const NanVarianceOptions& options = {},
                                                    Loc loc = Loc::current()) {
  const auto f = [&](detail::Operands o) {
    return detail::ops::nanvar(o[0], options.axes, options.ddof, options.keepdims.value, loc);
  };
  return detail::recorded<inexact_t<elem_t<X>>>("nanvar", loc, f, x);
}
/// The standard deviation of the elements that are not NaN, the root of `nanvar`.
///     nanstd(D{1, NAN, 3})  // 1.0
template <ArrayLike X>
[[nodiscard]] out_t<inexact_t<elem_t<X>>, X> nanstd(const X& x, const NanVarianceOptions& options = {},
                                                    Loc loc = Loc::current()) {
  const auto f = [&](detail::Operands o) {
    return detail::ops::nanstd(o[0], options.axes, options.ddof, options.keepdims.value, loc);
  };
  return detail::recorded<inexact_t<elem_t<X>>>("nanstd", loc, f, x);
}

#define CALQUE_NAN_VARIANCE_OF(f, Out, Mask)                                                               \
  template <ArrayLike X>                                                                                   \
  [[nodiscard]] Out f(const X& x, const BasicMaskedVariance<detail::Mask>& of, Loc loc = Loc::current()) { \
    const detail::Operand all[] = {detail::operand_of(x, loc), of.where.operand};                          \
    const auto erased = [&](detail::Operands o) {                                                          \
      return detail::ops::f##_where(o[0], o[1], of.axes, of.ddof, of.keepdims.value, loc);                 \
    };                                                                                                     \
    return detail::apply_to<Out>(#f, loc, all, erased);                                                    \
  }
#define CALQUE_NAN_VARIANCE(f)                                                \
  CALQUE_NAN_VARIANCE_OF(f, CALQUE_OUT(out_t<inexact_t<elem_t<X>>, X>), Mask) \
  CALQUE_NAN_VARIANCE_OF(f, Tracer<inexact_t<elem_t<X>>>, TracerMask)
/// `nanvar` of the elements under a mask.
///     nanvar(D{1, NAN, 3, 8}, {.where = B{true, true, true, false}})  // 1.0
CALQUE_NAN_VARIANCE(nanvar)
/// `nanstd` of the elements under a mask.
///     nanstd(D{1, NAN, 3, 8}, {.where = B{true, true, true, false}})  // 1.0
CALQUE_NAN_VARIANCE(nanstd)
#undef CALQUE_NAN_VARIANCE
#undef CALQUE_NAN_VARIANCE_OF
#undef CALQUE_OUT

#define CALQUE_NAN_ALONG(f, R)                                                                                     \
  template <ArrayLike X>                                                                                           \
  [[nodiscard]] out_t<R, X> f(const X& x, int axis, Loc loc = Loc::current()) {                                    \
    const auto erased = [&](detail::Operands o) { return detail::ops::f(o[0], axis, loc); };                       \
    return detail::recorded<R>(#f, loc, erased, x);                                                                \
  }                                                                                                                \
  template <ArrayLike X>                                                                                           \
  [[nodiscard]] out_t<R, X> f(const X& x, Loc loc = Loc::current()) {                                              \
    const auto erased = [&](detail::Operands o) { return detail::ops::f(detail::ops::ravel(o[0], loc), 0, loc); }; \
    return detail::recorded<R>(#f, loc, erased, x);                                                                \
  }
/// The index (i32) of the first greatest element along the axis that is not NaN; -1 where all are. Without an axis,
/// here and below, of all elements in row-major order. Throws ShapeError for an axis that is out of range or empty,
/// DTypeError for complex x.
///     nanargmax(D{NAN, 1, 3}, 0)  // 2
CALQUE_NAN_ALONG(nanargmax, int32_t)
/// The index (i32) of the first smallest element along the axis that is not NaN; otherwise as `nanargmax`.
///     nanargmin(D{NAN, 1, 3}, 0)  // 1
CALQUE_NAN_ALONG(nanargmin, int32_t)
/// The cumulative sum along the axis, NaN counting as 0. Of x's shape and type (bool: i32). Throws ShapeError for an
/// axis out of range.
///     nancumsum(D{1, NAN, 3}, 0)  // [1. 1. 4.]
CALQUE_NAN_ALONG(nancumsum, sum_t<elem_t<X>>)
/// The cumulative product along the axis, NaN counting as 1. Types and errors as for `nancumsum`.
///     nancumprod(D{2, NAN, 3}, 0)  // [2. 2. 6.]
CALQUE_NAN_ALONG(nancumprod, sum_t<elem_t<X>>)
#undef CALQUE_NAN_ALONG

#define CALQUE_NAN_POSITION(f)                                                                                  \
  template <ArrayLike X>                                                                                        \
  [[nodiscard]] out_t<int32_t, X> f(const X& x, int axis, KeepDims keep, Loc loc = Loc::current()) {            \
    const auto erased = [&](detail::Operands o) { return detail::ops::f##_kept(o[0], axis, keep.value, loc); }; \
    return detail::recorded<int32_t>(#f, loc, erased, x);                                                       \
  }
/// The same with the axis kept with extent 1: `nanargmax(x, axis, cq::keepdims)`.
///     nanargmax(D{NAN, 1, 3}, 0, keepdims)  // [2]
CALQUE_NAN_POSITION(nanargmax)
/// The same with the axis kept with extent 1.
///     nanargmin(D{NAN, 1, 3}, 0, keepdims)  // [1]
CALQUE_NAN_POSITION(nanargmin)
#undef CALQUE_NAN_POSITION

/// The numbers that `nan_to_num` writes; by default the greatest and least finite ones for infinities.
struct NanToNumOptions {
  double nan = 0;
  std::optional<double> posinf{}, neginf{};
};
/// x with NaN and infinities replaced, as numpy.nan_to_num, in both parts of complex numbers. Of x's shape and type.
///     nan_to_num(D{NAN, INFINITY, 1}, {.nan = -1, .posinf = 99})  // [-1. 99.  1.]
template <ArrayLike X>
[[nodiscard]] out_t<elem_t<X>, X> nan_to_num(const X& x, NanToNumOptions options = {}, Loc loc = Loc::current()) {
  const auto f = [&](detail::Operands o) {
    return detail::ops::nan_to_num(o[0], options.nan, options.posinf, options.neginf, loc);
  };
  return detail::recorded<elem_t<X>>("nan_to_num", loc, f, x);
}

}  // namespace calque
