// Reductions that ignore NaN, and its replacement.
#include <limits>

#include "frontend/vocabulary/masked.h"

namespace calque::detail::ops {
namespace {

/// Where x is not NaN.
Handle ordered_elements(Handle x, const Site& s) {
  if (!is_inexact(dtype(x))) return constant_bools(true, shape(x), s);
  if (!is_complex(dtype(x))) return emit<prim::Eq>(s, {x, x});
  return emit<prim::Not>(s, {isnan(x, s.at)});
}

Handle without_nan(Handle x, double instead, const Site& s) {
  if (!is_inexact(dtype(x))) return x;
  return select(ordered_elements(x, s), x, splat(instead, type(x), s), s);
}

template <class P>
Handle extremum_of_numbers(const Operand& x, const Axes& axes, bool keepdims, double identity, const Site& s) {
  const Handle v = value(x, s);
  const Type t = type(v);
  if (is_complex(t.dtype)) reject(t, "ordered numbers", s);
  const Ints list = normal_axes(axes, t, s);
  if (elements_along(t.shape, list) == 0) s.shape_error("no elements to choose from in " + to_string(t));
  const Handle best = reduce_axes<P>(without_nan(v, identity, s), list, keepdims, s);
  if (!is_floating(t.dtype)) return best;
  const Handle some = reduce_axes<prim::ReduceOr>(ordered_elements(v, s), list, keepdims, s);
  return select(some, best, splat(__builtin_nan(""), type(best), s), s);
}

Handle index_of_numbers(const Operand& x, int axis, bool greatest, const Site& s) {
  const Handle v = value(x, s);
  if (is_complex(dtype(v))) reject(type(v), "ordered numbers", s);
  const int a = axis_in(axis, v, s);
  const double identity = greatest ? -__builtin_inf() : __builtin_inf();
  const Handle numbers = without_nan(v, identity, s);
  const Handle i = greatest ? argmax(numbers, a, s.at) : argmin(numbers, a, s.at);
  if (!is_floating(dtype(v))) return i;
  // An infinity may stand beside NaN that became one before it: the first number that equals it is meant.
  const Handle ordered = ordered_elements(v, s);
  const Handle best = greatest ? amax(numbers, Axes(a), true, s.at) : amin(numbers, Axes(a), true, s.at);
  const Handle equal_one = emit<prim::And>(s, {ordered, emit<prim::Eq>(s, {numbers, broadcast(best, shape(v), s)})});
  const Handle first = argmax(convert(equal_one, DType::i32, s), a, s.at);
  const Handle some = reduce_axes<prim::ReduceOr>(ordered, {a}, false, s);
  return select(some, first, splat(-1, type(i), s), s);
}

}  // namespace

Handle nansum(const Operand& x, const Axes& axes, bool keepdims, Location at) {
  const Site s{"nansum", at};
  return sum(without_nan(value(x, s), 0, s), axes, keepdims, at);
}
Handle nanprod(const Operand& x, const Axes& axes, bool keepdims, Location at) {
  const Site s{"nanprod", at};
  return prod(without_nan(value(x, s), 1, s), axes, keepdims, at);
}
Handle nanmax(const Operand& x, const Axes& axes, bool keepdims, Location at) {
  return extremum_of_numbers<prim::ReduceMax>(x, axes, keepdims, -__builtin_inf(), {"nanmax", at});
}
Handle nanmin(const Operand& x, const Axes& axes, bool keepdims, Location at) {
  return extremum_of_numbers<prim::ReduceMin>(x, axes, keepdims, __builtin_inf(), {"nanmin", at});
}

Handle nanmean(const Operand& x, const Axes& axes, bool keepdims, Location at) {
  const Site s{"nanmean", at};
  const auto [v, result] = widened(x, s);
  const Handle mean = mean_where(v, ordered_elements(v, s), normal_axes(axes, type(v), s), keepdims, s);
  return convert(mean, result, s);
}

Handle nansum_where_from(const Operand& x, const Operand& mask, const Axes& axes, bool keepdims, const Operand* initial,
                         Location at) {
  const Site s{"nansum", at};
  return sum_where_from(without_nan(value(x, s), 0, s), mask, axes, keepdims, initial, at);
}
Handle nanprod_where_from(const Operand& x, const Operand& mask, const Axes& axes, bool keepdims,
                          const Operand* initial, Location at) {
  const Site s{"nanprod", at};
  return prod_where_from(without_nan(value(x, s), 1, s), mask, axes, keepdims, initial, at);
}

namespace {

/// Where both the mask and x are.
Handle mask_of_numbers(Handle x, const Operand& mask, const Site& s) {
  const Handle m = value(mask, s);
  if (!is_bool(dtype(m))) reject(type(m), "a mask of bools", s);
  return emit<prim::And>(s, {broadcast(m, shape(x), s), ordered_elements(x, s)});
}

/// NaN where no number is found, unless there is an element to start from.
Handle extremum_where_numbers(const Operand& x, const Operand& mask, const Axes& axes, bool keepdims,
                              const Operand* initial, bool greatest, const Site& s) {
  const Handle v = value(x, s);
  if (is_complex(dtype(v))) reject(type(v), "ordered numbers", s);
  const Handle both = mask_of_numbers(v, mask, s);
  const Handle numbers = without_nan(v, 0, s);
  const Handle best = greatest ? amax_where_from(numbers, both, axes, keepdims, initial, s.at)
                               : amin_where_from(numbers, both, axes, keepdims, initial, s.at);
  if (initial != nullptr || !is_floating(dtype(v))) return best;
  const Handle some = reduce_axes<prim::ReduceOr>(both, normal_axes(axes, type(v), s), keepdims, s);
  return select(some, best, splat(__builtin_nan(""), type(best), s), s);
}

}  // namespace

Handle nanmax_where_from(const Operand& x, const Operand& mask, const Axes& axes, bool keepdims, const Operand* initial,
                         Location at) {
  return extremum_where_numbers(x, mask, axes, keepdims, initial, true, {"nanmax", at});
}
Handle nanmin_where_from(const Operand& x, const Operand& mask, const Axes& axes, bool keepdims, const Operand* initial,
                         Location at) {
  return extremum_where_numbers(x, mask, axes, keepdims, initial, false, {"nanmin", at});
}

Handle nanmean_where(const Operand& x, const Operand& mask, const Axes& axes, bool keepdims, Location at) {
  const Site s{"nanmean", at};
  const Handle v = value(x, s);
  return mean_where(without_nan(v, 0, s), mask_of_numbers(v, mask, s), axes, keepdims, at);
}

namespace {

Handle variance_of_numbers(const Operand& x, const Operand* mask, const Axes& axes, double ddof, bool keepdims,
                           bool root, const Site& s) {
  const auto [v, result] = widened_real(x, s);
  const Handle ordered = mask == nullptr ? ordered_elements(v, s) : mask_of_numbers(v, *mask, s);
  // NaN is replaced before the mean is subtracted, so that derivatives are finite.
  Handle y = variance_where(without_nan(v, 0, s), ordered, normal_axes(axes, type(v), s), ddof, keepdims, s);
  if (root) y = emit<prim::Sqrt>(s, {y});
  return convert(y, result, s);
}

}  // namespace

Handle nanvar(const Operand& x, const Axes& axes, double ddof, bool keepdims, Location at) {
  return variance_of_numbers(x, nullptr, axes, ddof, keepdims, false, {"nanvar", at});
}
Handle nanstd(const Operand& x, const Axes& axes, double ddof, bool keepdims, Location at) {
  return variance_of_numbers(x, nullptr, axes, ddof, keepdims, true, {"nanstd", at});
}
Handle nanvar_where(const Operand& x, const Operand& mask, const Axes& axes, double ddof, bool keepdims, Location at) {
  return variance_of_numbers(x, &mask, axes, ddof, keepdims, false, {"nanvar", at});
}
Handle nanstd_where(const Operand& x, const Operand& mask, const Axes& axes, double ddof, bool keepdims, Location at) {
  return variance_of_numbers(x, &mask, axes, ddof, keepdims, true, {"nanstd", at});
}

Handle nanargmax(const Operand& x, int axis, Location at) { return index_of_numbers(x, axis, true, {"nanargmax", at}); }
Handle nanargmin(const Operand& x, int axis, Location at) {
  return index_of_numbers(x, axis, false, {"nanargmin", at});
}

namespace {

Handle with_axis_kept(Handle y, const Operand& x, int axis, bool keepdims, const Site& s) {
  if (!keepdims) return y;
  const Handle v = value(x, s);
  return reshape(y, shape(v).with(static_cast<size_t>(axis_in(axis, v, s)), 1), s);
}

}  // namespace

Handle nanargmax_kept(const Operand& x, int axis, bool keepdims, Location at) {
  return with_axis_kept(nanargmax(x, axis, at), x, axis, keepdims, {"nanargmax", at});
}
Handle nanargmin_kept(const Operand& x, int axis, bool keepdims, Location at) {
  return with_axis_kept(nanargmin(x, axis, at), x, axis, keepdims, {"nanargmin", at});
}

Handle nancumsum(const Operand& x, int axis, Location at) {
  const Site s{"nancumsum", at};
  return cumsum(without_nan(value(x, s), 0, s), axis, at);
}
Handle nancumprod(const Operand& x, int axis, Location at) {
  const Site s{"nancumprod", at};
  return cumprod(without_nan(value(x, s), 1, s), axis, at);
}

Handle nan_to_num(const Operand& x, double nan, std::optional<double> posinf, std::optional<double> neginf,
                  Location at) {
  const Site s{"nan_to_num", at};
  const Handle v = value(x, s);
  const DType d = dtype(v);
  if (!is_inexact(d)) return v;
  if (is_complex(d)) {
    const Handle re = nan_to_num(emit<prim::Real>(s, {v}), nan, posinf, neginf, at);
    return emit<prim::Complex>(s, {re, nan_to_num(emit<prim::Imag>(s, {v}), nan, posinf, neginf, at)});
  }
  const double greatest = d == DType::f64    ? std::numeric_limits<double>::max()
                          : d == DType::f32  ? static_cast<double>(std::numeric_limits<float>::max())
                          : d == DType::bf16 ? 0x1.fep127
                                             : 65504.0;
  const Expression e(v, s), infinite = e.number(__builtin_inf());
  const Expression high = e.number(posinf.value_or(greatest)), low = e.number(neginf.value_or(-greatest));
  const Expression bounded = (e == infinite).choose(high, (e == -infinite).choose(low, e));
  return (e == e).choose(bounded, e.number(nan));
}

}  // namespace calque::detail::ops
