#pragma once
// Reductions, and functions along one axis. Axes may be negative; without them all are reduced; `cq::keepdims` keeps
// reduced dimensions with extent 1. 16-bit floats accumulate in f32. Errors: ShapeError for an axis that is out of
// range or given twice; DTypeError for complex numbers where an order is needed.
#include "calque/axes.h"
#include "calque/detail/apply.h"

namespace calque {

#define CALQUE_REDUCE(f, R)                                                                 \
  template <ArrayLike X>                                                                    \
  out_t<R, X> f(const X& x, Axes axes = {}, KeepDims keep = {}, Loc loc = Loc::current()) { \
    const auto erased = [&](std::span<const detail::Operand> o) {                           \
      return detail::ops::f(o[0], axes, keep.value, loc);                                   \
    };                                                                                      \
    return detail::apply<out_t<R, X>>(#f, loc, erased, x);                                  \
  }

/// The sum; 0 of nothing. Of bool: i32. Integers wrap.
CALQUE_REDUCE(sum, sum_t<elem_t<X>>)
/// The product; 1 of nothing. Of bool: i32. Integers wrap.
CALQUE_REDUCE(prod, sum_t<elem_t<X>>)
/// The arithmetic mean; NaN of nothing. Of integers: f32.
CALQUE_REDUCE(mean, floaty_t<elem_t<X>>)
/// The mean squared distance from the mean (divided by n), in two passes. Of integers: f32.
CALQUE_REDUCE(var, floaty_t<elem_t<X>>)
/// The square root of `var`.
CALQUE_REDUCE(stddev, floaty_t<elem_t<X>>)
/// The greatest element; NaN if any is. ShapeError of nothing.
CALQUE_REDUCE(amax, elem_t<X>)
/// The smallest element; NaN if any is. ShapeError of nothing.
CALQUE_REDUCE(amin, elem_t<X>)
/// The root of the sum of squares (of moduli, for complex numbers). Its derivative at 0 is 0.
CALQUE_REDUCE(norm, real_t<floaty_t<elem_t<X>>>)
/// log of the sum of e^x, without overflow; -inf of nothing and of -inf alone.
CALQUE_REDUCE(logsumexp, floaty_t<elem_t<X>>)
/// Whether any element is not 0; false of nothing.
CALQUE_REDUCE(any, bool)
namespace ops {
/// Whether all elements are not 0; true of nothing. Called as `all(x)` or `cq::all(x)`.
CALQUE_REDUCE(all, bool)
}  // namespace ops
#undef CALQUE_REDUCE

/// The type of `cq::all`.
struct all_t {
  /// The reduction: whether all elements are not 0.
  template <ArrayLike X>
  out_t<bool, X> operator()(const X& x, Axes axes = {}, KeepDims keep = {}, Loc loc = Loc::current()) const {
    return ops::all(x, std::move(axes), keep, loc);
  }
};
/// A whole dimension in an index list, and, called, the reduction.
inline constexpr all_t all{};

#define CALQUE_ALONG(f, R)                                                                                   \
  template <ArrayLike X>                                                                                     \
  out_t<R, X> f(const X& x, int axis, Loc loc = Loc::current()) {                                            \
    const auto erased = [&](std::span<const detail::Operand> o) { return detail::ops::f(o[0], axis, loc); }; \
    return detail::apply<out_t<R, X>>(#f, loc, erased, x);                                                   \
  }

/// The index of the greatest element along the axis, without the axis. NaN is greatest; of equals the lowest index.
/// ShapeError for an empty axis or one of more than 2^31 - 1.
CALQUE_ALONG(argmax, int32_t)
/// The index of the smallest element along the axis, without the axis. NaN is taken first; of equals the lowest index.
CALQUE_ALONG(argmin, int32_t)
/// Sums of the elements up to each place. Of bool: i32.
CALQUE_ALONG(cumsum, sum_t<elem_t<X>>)
/// Products of the elements up to each place. Of bool: i32.
CALQUE_ALONG(cumprod, sum_t<elem_t<X>>)
/// The greatest element up to each place; NaN from the first NaN on.
CALQUE_ALONG(cummax, elem_t<X>)
/// The smallest element up to each place; NaN from the first NaN on.
CALQUE_ALONG(cummin, elem_t<X>)
/// e^x over its sum along the axis, without overflow.
CALQUE_ALONG(softmax, floaty_t<elem_t<X>>)
/// log of `softmax`, without cancellation.
CALQUE_ALONG(log_softmax, floaty_t<elem_t<X>>)
#undef CALQUE_ALONG

/// (x - mean) / sqrt(var + eps) along the axis.
template <ArrayLike X>
out_t<floaty_t<elem_t<X>>, X> layer_norm(const X& x, int axis, double eps = 1e-5, Loc loc = Loc::current()) {
  const auto f = [&](std::span<const detail::Operand> o) { return detail::ops::layer_norm(o[0], axis, eps, loc); };
  return detail::apply<out_t<floaty_t<elem_t<X>>, X>>("layer_norm", loc, f, x);
}

/// The same, times gamma plus beta: one number for each place along the axis, or anything that broadcasts to x.
template <ArrayLike X, ArrayLike G, ArrayLike B>
out_t<floaty_t<elem_t<X>>, X, G, B> layer_norm(const X& x, const G& gamma, const B& beta, int axis, double eps = 1e-5,
                                               Loc loc = Loc::current()) {
  const auto f = [&](std::span<const detail::Operand> o) {
    return detail::ops::layer_norm(o[0], o[1], o[2], axis, eps, loc);
  };
  return detail::apply<out_t<floaty_t<elem_t<X>>, X, G, B>>("layer_norm", loc, f, x, gamma, beta);
}

}  // namespace calque
