// Medians and quantiles: elements at positions of sorted rows.
#include <algorithm>

#include "frontend/sorting/sorting.h"

namespace calque::detail::ops {
namespace {

/// The sorted elements over some axes as rows, in the dtype of the elements, and the shape without these axes.
struct SortedRows {
  Handle rows;    ///< [..., n]
  Shape kept;     ///< with extents of 1 at the axes
  Shape dropped;  ///< without the axes: [...]
  int64_t n;
  DType result;
};

SortedRows sorted_over(const Operand& x, const Axes& axes, const Site& s) {
  const Handle v = ordered_operand(x, s);
  const Type t = type(v);
  const Ints list = normal_axes(axes, t, s);
  Ints perm, dropped;
  for (int64_t d = 0; d < t.shape.rank(); ++d) {
    if (std::ranges::find(list, d) != list.end()) continue;
    perm.push_back(d);
    dropped.push_back(t.shape[static_cast<size_t>(d)]);
  }
  perm.insert(perm.end(), list.begin(), list.end());
  SortedRows r{v, kept_shape(t.shape, list), Shape(dropped), elements_along(t.shape, list), to_inexact(t.dtype)};
  if (r.n == 0) s.shape_error("no elements to choose from in " + to_string(t));
  if (r.n - 1 > INT32_MAX) s.shape_error("too many elements for indices of i32 in " + to_string(t));
  const Handle rows = reshape(transpose(v, perm, s), r.dropped.with_inserted(r.dropped.size(), r.n), s);
  r.rows = sorted_rows(std::span(&rows, 1), {}, s)[0];
  return r;
}

/// The elements at one position of all rows: [...], in the dtype of the computation.
Handle element_at(const SortedRows& r, int64_t i, const Site& s) {
  const int last = r.dropped.rank();
  return convert(reshape(slice_axis(r.rows, last, i, i + 1, 1, s), r.dropped, s), wide(r.result), s);
}

/// How many elements of each row are not NaN: [...], as i32.
Handle numbers_in(const SortedRows& r, const Site& s) {
  if (!is_floating(dtype(r.rows))) return splat(static_cast<double>(r.n), {DType::i32, r.dropped}, s);
  const Handle is_number = convert(emit<prim::Eq>(s, {r.rows, r.rows}), DType::i32, s);
  return reduce_axes<prim::ReduceSum>(is_number, {r.dropped.rank()}, false, s);
}

/// NaN where a row has one, which comes last.
Handle nan_if_any(const SortedRows& r, Handle found, const Site& s) {
  if (!is_floating(dtype(r.rows))) return found;
  const Expression greatest(element_at(r, r.n - 1, s), s);
  const Handle has_nan = !(greatest == greatest);
  const Shape to = shape(found);
  Ints axes;
  for (int64_t d = to.rank() - r.dropped.rank(); d < to.rank(); ++d) axes.push_back(d);
  return select(broadcast_in(has_nan, to, axes, s), splat(__builtin_nan(""), type(found), s), found, s);
}

/// The elements at indices [..., k] of each row, in the dtype of the computation.
Expression elements_at(const SortedRows& r, Expression i, const Site& s) {
  return {convert(at_indices(r.rows, i, s), wide(r.result), s), s};
}

/// Between two neighbours, where the position is `weight` beyond the lower one.
Expression between(Expression low, Expression high, Expression weight, quantile_method how) {
  const Expression zero = weight.number(0), half = weight.number(0.5);
  switch (how) {
    case quantile_method::lower:
      return low;
    case quantile_method::higher:
      return high;
    case quantile_method::midpoint:
      return (weight == zero).choose(low, low * 0.5 + high * 0.5);
    case quantile_method::nearest:
      return (weight < half).choose(low, high);
    case quantile_method::linear:
    case quantile_method::inverted_cdf:
      break;
  }
  // The line between equal infinities is one: infinity times zero would be NaN.
  const Expression is_end = (weight == zero) | ((low == high) & (low.of<prim::Abs>() == low.number(__builtin_inf())));
  return is_end.choose(low, low * (1.0 - weight) + high * weight);
}

/// `whole`: the q of the greatest element.
Handle quantiles(const Operand& x, const Operand& q, const Axes& axes, quantile_method how, bool keepdims,
                 bool skips_nan, double whole, const Site& s) {
  const SortedRows r = sorted_over(x, axes, s);
  const DType dq = operand_dtype(q, s);
  if (is_complex(dq)) reject(type(value(q, s)), "real numbers", s);
  // Positions in f32 would be off by whole elements of long rows.
  const Handle probabilities = value(q, DType::f64, s);
  const Shape q_shape = shape(probabilities);
  const int64_t m = q_shape.num_elements();
  const Shape all = r.dropped.with_inserted(r.dropped.size(), m);
  Ints batch;
  for (int64_t d = 0; d < r.dropped.rank(); ++d) batch.push_back(d);
  const Expression given(broadcast_in(reshape(probabilities, Shape{m}, s), all, {r.dropped.rank()}, s), s);
  const Expression p = whole == 1 ? given : given / whole;
  const Expression numbers(broadcast_in(numbers_in(r, s), all, batch, s), s);
  const Expression last = skips_nan ? (numbers > 0.0).choose(numbers - 1.0, numbers.number(0))
                                    : numbers.number(static_cast<double>(r.n - 1));
  Expression position = p * last.as(DType::f64);
  if (how == quantile_method::inverted_cdf) {
    // The element number ceil(p n), the first one at the least.
    position = (p * (last + 1.0).as(DType::f64)).of<prim::Ceil>() - 1.0;
    position = (position < 0.0).choose(position.number(0), position);
  }
  const Expression floor = position.of<prim::Floor>().fixed();
  Expression weight = position - floor;
  const Expression lower = floor.as(DType::i32);
  const Expression upper = (weight.fixed() > 0.0).choose(lower + 1.0, lower);
  if (how == quantile_method::nearest) {
    // Half a position goes to the even one.
    const Expression half = floor * 0.5;
    const Expression is_even = half.of<prim::Floor>() == half;
    weight = ((weight == 0.5) & is_even).choose(weight.number(0), weight);
  }
  const Expression low = elements_at(r, lower, s), high = elements_at(r, upper, s);
  const Expression result = between(low, high, weight.as(wide(r.result)), how);
  // Outside of [0, 1] there is no quantile.
  Expression exists = (p >= 0.0) & (p <= 1.0);
  if (skips_nan) exists = exists & (numbers > 0.0);
  const Handle checked = exists.choose(result, result.number(__builtin_nan("")));
  // The dimensions of q lead.
  Handle out = r.dropped.rank() == 0 ? checked : moved_axis(checked, r.dropped.rank(), 0, s);
  if (!skips_nan) out = nan_if_any(r, out, s);
  Ints dims(q_shape.begin(), q_shape.end());
  const Shape& rest = keepdims ? r.kept : r.dropped;
  dims.insert(dims.end(), rest.begin(), rest.end());
  return convert(reshape(out, Shape(dims), s), r.result, s);
}

}  // namespace

Handle median(const Operand& x, const Axes& axes, bool keepdims, Location at) {
  const Site s{"median", at};
  const SortedRows r = sorted_over(x, axes, s);
  const Expression low(element_at(r, (r.n - 1) / 2, s), s);
  const Expression middle = r.n % 2 == 1 ? low : low * 0.5 + Expression(element_at(r, r.n / 2, s), s) * 0.5;
  const Handle result = convert(nan_if_any(r, middle, s), r.result, s);
  return keepdims ? reshape(result, r.kept, s) : result;
}

Handle nanmedian(const Operand& x, const Axes& axes, bool keepdims, Location at) {
  const Site s{"nanmedian", at};
  const SortedRows r = sorted_over(x, axes, s);
  const Shape one = r.dropped.with_inserted(r.dropped.size(), 1);
  const Expression count(reshape(numbers_in(r, s), one, s), s);
  const Expression some = count > 0.0;
  const Expression lower = some.choose((count - 1.0).of<prim::ShrArithmetic>(count.number(1)), count.number(0));
  const Expression upper = count.of<prim::ShrArithmetic>(count.number(1));
  const Expression low = elements_at(r, lower, s), high = elements_at(r, upper, s);
  const Expression middle = (lower == upper).choose(low, low * 0.5 + high * 0.5);
  const Handle checked = some.choose(middle, middle.number(__builtin_nan("")));
  return reshape(convert(checked, r.result, s), keepdims ? r.kept : r.dropped, s);
}

Handle quantile(const Operand& x, const Operand& q, const Axes& axes, quantile_method how, bool keepdims, Location at) {
  return quantiles(x, q, axes, how, keepdims, false, 1, {"quantile", at});
}
Handle percentile(const Operand& x, const Operand& q, const Axes& axes, quantile_method how, bool keepdims,
                  Location at) {
  return quantiles(x, q, axes, how, keepdims, false, 100, {"percentile", at});
}
Handle nanquantile(const Operand& x, const Operand& q, const Axes& axes, quantile_method how, bool keepdims,
                   Location at) {
  return quantiles(x, q, axes, how, keepdims, true, 1, {"nanquantile", at});
}
Handle nanpercentile(const Operand& x, const Operand& q, const Axes& axes, quantile_method how, bool keepdims,
                     Location at) {
  return quantiles(x, q, axes, how, keepdims, true, 100, {"nanpercentile", at});
}

}  // namespace calque::detail::ops
