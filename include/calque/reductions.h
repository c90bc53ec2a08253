#pragma once
// Reductions, and functions along one axis. Axes may be negative; without axes all are reduced; `cq::keepdims` keeps
// reduced dimensions with extent 1. 16-bit floats accumulate in f32. Every function throws ShapeError for an axis that
// is out of range or given twice.
#include "calque/detail/apply.h"
#include "calque/detail/axes.h"

namespace calque {

#define CALQUE_REDUCE(f, R)                                                                               \
  template <ArrayLike X>                                                                                  \
  [[nodiscard]] out_t<R, X> f(const X& x, Axes axes = {}, KeepDims keep = {}, Loc loc = Loc::current()) { \
    const auto erased = [&](std::span<const detail::Operand> o) {                                         \
      return detail::ops::f(o[0], axes, keep.value, loc);                                                 \
    };                                                                                                    \
    return detail::apply<out_t<R, X>>(#f, loc, erased, x);                                                \
  }

/// The sum over the axes (all by default); 0 for no elements. Of x's type (bool: i32); integers wrap, 16-bit floats
/// accumulate in f32. Throws ShapeError for an axis out of range or given twice.
///     sum(D{{1, 2}, {3, 4}}, 0)  // [4. 6.]
CALQUE_REDUCE(sum, sum_t<elem_t<X>>)
/// The product over the axes (all by default); 1 for no elements. Of x's type (bool: i32); integers wrap. Throws
/// ShapeError for an axis out of range or given twice.
///     prod(D{{1, 2}, {3, 4}}, 1)  // [ 2. 12.]
CALQUE_REDUCE(prod, sum_t<elem_t<X>>)
/// The arithmetic mean over the axes (all by default); NaN for no elements. Of x's type (integers and bool: f32).
/// Throws ShapeError for an axis out of range or given twice.
///     mean(D{{1, 2}, {3, 4}}, 0, keepdims)  // [[2. 3.]]
CALQUE_REDUCE(mean, inexact_t<elem_t<X>>)
/// The variance over the axes (all by default), the mean squared deviation from the mean (divided by n), in two passes.
/// Of x's type (integers and bool: f32). Throws ShapeError for an axis out of range or given twice, DTypeError for
/// complex x.
///     var(D{1, 2, 3, 4})  // 1.25
CALQUE_REDUCE(var, inexact_t<elem_t<X>>)
/// The standard deviation, the square root of `var`. Types and errors as for `var`.
///     stddev(D{1, 1, 5, 5})  // 2.0
CALQUE_REDUCE(stddev, inexact_t<elem_t<X>>)
/// The greatest element over the axes (all by default); NaN if any is. Of x's type. Throws ShapeError when there are no
/// elements or for an axis out of range or given twice, DTypeError for complex x.
///     amax(D{{1, 5}, {4, 2}}, 1)  // [5. 4.]
CALQUE_REDUCE(amax, elem_t<X>)
/// The smallest element over the axes (all by default); NaN if any is. Types and errors as for `amax`.
///     amin(D{{1, 5}, {4, 2}}, 1)  // [1. 2.]
CALQUE_REDUCE(amin, elem_t<X>)
/// The Euclidean norm over the axes (all by default), the square root of the sum of squares (of moduli, for complex
/// numbers). Of the real type of x (integers and bool: f32). Its derivative at 0 is 0. Throws ShapeError for an axis
/// out of range or given twice.
///     norm(D{3, 4})  // 5.0
CALQUE_REDUCE(norm, real_t<inexact_t<elem_t<X>>>)
/// log of the sum of e^x over the axes (all by default), without overflow; -inf if there are no elements or all are
/// -inf. Of x's type (integers and bool: f32). Throws ShapeError for an axis out of range or given twice, DTypeError
/// for complex x.
///     logsumexp(D{1000, 1000})  // 1000.69314718
CALQUE_REDUCE(logsumexp, inexact_t<elem_t<X>>)
/// Whether any element over the axes (all by default) is not 0; false for no elements. Throws ShapeError for an axis
/// out of range or given twice.
///     any(B{{true, false}, {false, false}}, 1)  // [ True False]
CALQUE_REDUCE(any, bool)
namespace ops {
/// Whether all elements over the axes (all by default) are not 0; true for no elements. Called as `all(x)` or
/// `cq::all(x)`. Throws ShapeError for an axis out of range or given twice.
///     all(B{{true, true}, {true, false}}, 1)  // [ True False]
CALQUE_REDUCE(all, bool)
}  // namespace ops
#undef CALQUE_REDUCE

/// The sum of the diagonal of the dimensions axis1 and axis2, as numpy.trace: of the elements at index i along axis1
/// and i + offset along axis2; 0 for an empty diagonal. Of x's type (bool: i32); integers wrap, 16-bit floats
/// accumulate in f32. Throws ShapeError when x has less than two dimensions and for an axis out of range or given
/// twice.
///     trace(D{{1, 2}, {3, 4}})  // 5.0
template <ArrayLike X>
[[nodiscard]] out_t<sum_t<elem_t<X>>, X> trace(const X& x, int64_t offset = 0, int axis1 = 0, int axis2 = 1,
                                               Loc loc = Loc::current()) {
  const auto erased = [&](std::span<const detail::Operand> o) {
    return detail::ops::trace(o[0], offset, axis1, axis2, loc);
  };
  return detail::apply<out_t<sum_t<elem_t<X>>, X>>("trace", loc, erased, x);
}

template <class Mask>
struct BasicMasked;
namespace detail {
struct Mask;
struct TracerMask;
}  // namespace detail
/// The type of `cq::all`.
struct all_t {
  /// The reduction `ops::all`: whether all elements are not 0.
  template <ArrayLike X>
  out_t<bool, X> operator()(const X& x, Axes axes = {}, KeepDims keep = {}, Loc loc = Loc::current()) const {
    return ops::all(x, std::move(axes), keep, loc);
  }
  /// The same under a mask: `all(x, {.where = mask})` (calque/numpy/statistics.h).
  template <ArrayLike X>
  out_t<bool, X> operator()(const X& x, const BasicMasked<detail::Mask>& of, Loc loc = Loc::current()) const;
  template <ArrayLike X>
  Tracer<bool> operator()(const X& x, const BasicMasked<detail::TracerMask>& of, Loc loc = Loc::current()) const;
};
/// A whole dimension in an index list, and, called, the reduction.
inline constexpr all_t all{};

#define CALQUE_ALONG(f, R)                                                                                   \
  template <ArrayLike X>                                                                                     \
  [[nodiscard]] out_t<R, X> f(const X& x, int axis, Loc loc = Loc::current()) {                              \
    const auto erased = [&](std::span<const detail::Operand> o) { return detail::ops::f(o[0], axis, loc); }; \
    return detail::apply<out_t<R, X>>(#f, loc, erased, x);                                                   \
  }

/// The index (i32) of the greatest element along the axis, which is dropped from the shape. NaN is greatest; of equal
/// elements the lowest index. Throws ShapeError for an axis that is out of range, empty or longer than 2^31 - 1;
/// DTypeError for complex x.
///     argmax(D{{1, 5}, {4, 2}}, 1)  // [1 0]
CALQUE_ALONG(argmax, int32_t)
/// The index (i32) of the smallest element along the axis, which is dropped from the shape. NaN is smallest; of equal
/// elements the lowest index. Throws as `argmax`.
///     argmin(D{{1, 5}, {4, 2}}, 1)  // [0 1]
CALQUE_ALONG(argmin, int32_t)
/// The cumulative sum along the axis, including each element, of x's shape and type (bool: i32). Throws ShapeError for
/// an axis out of range.
///     cumsum(D{{1, 2}, {3, 4}}, 0)  // [[1. 2.]
///                                   //  [4. 6.]]
CALQUE_ALONG(cumsum, sum_t<elem_t<X>>)
/// The cumulative product along the axis, including each element, of x's shape and type (bool: i32). Throws ShapeError
/// for an axis out of range.
///     cumprod(D{1, 2, 3}, 0)  // [1. 2. 6.]
CALQUE_ALONG(cumprod, sum_t<elem_t<X>>)
/// The cumulative maximum along the axis, of x's shape and type; NaN from the first NaN on. Throws ShapeError for an
/// axis out of range, DTypeError for complex x.
///     cummax(D{1, 3, 2}, 0)  // [1. 3. 3.]
CALQUE_ALONG(cummax, elem_t<X>)
/// The cumulative minimum along the axis, of x's shape and type; NaN from the first NaN on. Throws ShapeError for an
/// axis out of range, DTypeError for complex x.
///     cummin(D{3, 1, 2}, 0)  // [3. 1. 1.]
CALQUE_ALONG(cummin, elem_t<X>)
#undef CALQUE_ALONG

#define CALQUE_ALONG_LAST(f, R)                                                                              \
  template <ArrayLike X>                                                                                     \
  [[nodiscard]] out_t<R, X> f(const X& x, int axis = -1, Loc loc = Loc::current()) {                         \
    const auto erased = [&](std::span<const detail::Operand> o) { return detail::ops::f(o[0], axis, loc); }; \
    return detail::apply<out_t<R, X>>(#f, loc, erased, x);                                                   \
  }
/// e^x divided by its sum along the axis, without overflow; of x's shape and type (integers and bool: f32). Throws
/// ShapeError for an axis out of range, DTypeError for complex x.
///     softmax(D{0, 0, 1000})  // [0. 0. 1.]
CALQUE_ALONG_LAST(softmax, inexact_t<elem_t<X>>)
/// log of `softmax`, without cancellation. Types and errors as for `softmax`.
///     log_softmax(D{0, 0, 1000})  // [-1000. -1000.     0.]
CALQUE_ALONG_LAST(log_softmax, inexact_t<elem_t<X>>)
#undef CALQUE_ALONG_LAST

/// Layer normalization (Ba, Kiros, Hinton 2016): (x - mean) / sqrt(var + eps) along the axis, of x's shape and type
/// (integers and bool: f32). Throws ShapeError for an axis out of range, DTypeError for complex x.
///     layer_norm(D{1, 2, 3}, 0, 0)  // [-1.22474487  0.          1.22474487]
template <ArrayLike X>
[[nodiscard]] out_t<inexact_t<elem_t<X>>, X> layer_norm(const X& x, int axis, double eps = 1e-5,
                                                        Loc loc = Loc::current()) {
  const auto f = [&](std::span<const detail::Operand> o) { return detail::ops::layer_norm(o[0], axis, eps, loc); };
  return detail::apply<out_t<inexact_t<elem_t<X>>, X>>("layer_norm", loc, f, x);
}

/// Layer normalization followed by * gamma + beta, each a vector along the axis or anything that broadcasts to x.
/// Throws as above, ShapeError when gamma or beta does not broadcast to x, DTypeError when one does not promote to the
/// result's type.
///     layer_norm(D{1, 3}, D{1, 10}, D{0, 5}, 0, 0)  // [-1. 15.]
template <ArrayLike X, ArrayLike G, ArrayLike B>
[[nodiscard]] out_t<inexact_t<elem_t<X>>, X, G, B> layer_norm(const X& x, const G& gamma, const B& beta, int axis,
                                                              double eps = 1e-5, Loc loc = Loc::current()) {
  const auto f = [&](std::span<const detail::Operand> o) {
    return detail::ops::layer_norm(o[0], o[1], o[2], axis, eps, loc);
  };
  return detail::apply<out_t<inexact_t<elem_t<X>>, X, G, B>>("layer_norm", loc, f, x, gamma, beta);
}

}  // namespace calque
