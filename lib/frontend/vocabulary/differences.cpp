// Differences, integrals, interpolation and cumulative functions under NumPy's names.
#include <cmath>
#include <numbers>

#include "calque/detail/control/control.h"
#include "calque/detail/sorting.h"

#include "frontend/vocabulary/binary_search.h"
#include "frontend/vocabulary/common.h"

namespace calque::detail::ops {
namespace {

/// x[i + 1] - x[i] along the axis; of bools whether they differ.
Handle neighbours_differ(Handle x, int axis, const Site& s) {
  const int64_t n = extent_of(x, axis);
  const Handle from = slice_axis(x, axis, 0, n - 1, 1, s), to = slice_axis(x, axis, 1, n, 1, s);
  return is_bool(dtype(x)) ? emit<prim::Ne>(s, {to, from}) : emit<prim::Sub>(s, {to, from});
}

Expression along_axis(Expression v, int axis, const Shape& like, const Site& s) {
  return {broadcast_in(v, like, {axis}, s), s};
}

/// Coordinates [extent] of an axis.
Handle coordinates(const Operand& x, DType d, Handle of, int axis, const Site& s) {
  const Handle v = vector_operand(value(x, d, s), "the coordinates", s);
  if (extent_of(v, 0) != extent_of(of, axis)) {
    s.shape_error("needs a coordinate for each element along axis " + std::to_string(axis) + " of " +
                  to_string(type(of)) + ", got " + to_string(type(v)));
  }
  return v;
}

int differentiable_axis(int axis, Handle f, int edge_order, const Site& s) {
  const int a = axis_in(axis, f, s);
  if (edge_order != 1 && edge_order != 2) s.shape_error("the edge order is 1 or 2, got " + std::to_string(edge_order));
  if (extent_of(f, a) < edge_order + 1) {
    s.shape_error("needs " + std::string(edge_order == 1 ? "two" : "three") + " or more elements along axis " +
                  std::to_string(a) + ", got " + to_string(type(f)));
  }
  return a;
}

template <class P>
Handle cumulative(const Operand& x, std::optional<int> axis, bool reverse, bool sums, const Site& s) {
  Handle v = value(x, s);
  if (sums) v = convert(v, sum_result(dtype(v)), s);
  if (!sums && is_complex(dtype(v))) reject(type(v), "ordered numbers", s);
  if (!axis) v = flattened_to_vector(v, s);
  const int a = axis ? axis_in(*axis, v, s) : 0;
  return emit<P>(s, {v}, {{"axis", int64_t{a}}, {"reverse", reverse}});
}

/// One element more, the first in the order of the function.
Handle cumulative_from(Handle cumulated, Handle identity, std::optional<int> axis, bool reverse, const Site& s) {
  const int a = axis ? axis_in(*axis, cumulated, s) : 0;
  const Handle one = broadcast(identity, shape(cumulated).with(static_cast<size_t>(a), 1), s);
  const Handle parts[] = {reverse ? cumulated : one, reverse ? one : cumulated};
  return concatenated(parts, a, s);
}

}  // namespace

Handle diff(const Operand& x, int64_t n, int axis, Location at) {
  const Site s{"diff", at};
  Handle v = value(x, s);
  const int a = axis_in(axis, v, s);
  if (n < 0) s.shape_error("the order must not be negative, got " + std::to_string(n));
  for (int64_t i = 0; i < n && extent_of(v, a) > 0; ++i) v = neighbours_differ(v, a, s);
  return v;
}

Handle ediff1d(const Operand& x, Location at) {
  const Site s{"ediff1d", at};
  const Handle v = flattened_to_vector(value(x, s), s);
  if (is_bool(dtype(v))) reject(type(v), "numbers", s);
  return extent_of(v, 0) == 0 ? v : neighbours_differ(v, 0, s);
}

Handle diff_between(std::span<const Operand> all, bool has_prepend, int64_t n, int axis, Location at) {
  const Site s{"diff", at};
  const DType d = promoted_dtype(pointers_to(all), s);
  const Handle v = value(all[0], d, s);
  const Shape of = shape(v);
  const int a = axis_in(axis, v, s);
  const auto beside = [&](const Operand& o) {
    const Handle h = value(o, d, s);
    const auto ua = static_cast<size_t>(a);
    if (shape(h).rank() == 0) return broadcast(h, of.with(ua, 1), s);
    if (shape(h).rank() != of.rank() || shape(h).with(ua, 1) != of.with(ua, 1)) {
      s.shape_error("needs elements that continue " + to_string(type(v)) + " along axis " + std::to_string(a) +
                    ", got " + to_string(type(h)));
    }
    return h;
  };
  std::vector<Handle> parts;
  if (has_prepend) parts.push_back(beside(all[1]));
  parts.push_back(v);
  if (const size_t at_end = has_prepend ? 2 : 1; at_end < all.size()) parts.push_back(beside(all[at_end]));
  return diff(concatenated(parts, a, s), n, a, at);
}

Handle ediff1d_between(std::span<const Operand> all, bool has_end, Location at) {
  const Site s{"ediff1d", at};
  const Handle differences = ediff1d(all[0], at);
  const auto part = [&](const Operand& o) { return flattened_to_vector(value_fitting(o, dtype(differences), s), s); };
  std::vector<Handle> parts{differences};
  if (has_end) parts.push_back(part(all[1]));
  if (const size_t at_begin = has_end ? 2 : 1; at_begin < all.size()) parts.insert(parts.begin(), part(all[at_begin]));
  return concatenated(parts, 0, s);
}

Handle gradient(const Operand& f, double spacing, int axis, int edge_order, Location at) {
  const Site s{"gradient", at};
  const auto [v, result] = widened(f, s);
  const int a = differentiable_axis(axis, v, edge_order, s);
  const int64_t n = extent_of(v, a);
  const auto part = [&](int64_t from, int64_t to) { return Expression(slice_axis(v, a, from, to, 1, s), s); };
  const auto element = [&](int64_t i) { return part(i, i + 1); };
  const auto parabola = [&](int64_t edge, int64_t next, int64_t third) {
    return (element(next) * 4.0 - element(edge) * 3.0 - element(third)) / (2 * spacing);
  };
  std::vector<Handle> parts{edge_order == 1 ? (element(1) - element(0)) / spacing : parabola(0, 1, 2)};
  if (n > 2) parts.push_back((part(2, n) - part(0, n - 2)) / (2 * spacing));
  parts.push_back(edge_order == 1 ? (element(n - 1) - element(n - 2)) / spacing : -parabola(n - 1, n - 2, n - 3));
  return convert(concatenated(parts, a, s), result, s);
}

Handle gradient_at(const Operand& f, const Operand& x, int axis, int edge_order, Location at) {
  const Site s{"gradient", at};
  const DType result = to_inexact(promoted_dtype(f, x, s)), d = wide(result);
  const Handle v = value(f, d, s);
  const int a = differentiable_axis(axis, v, edge_order, s);
  const int64_t n = extent_of(v, a);
  const Handle steps = neighbours_differ(coordinates(x, d, v, a, s), 0, s);
  const auto part = [&](int64_t from, int64_t to) { return Expression(slice_axis(v, a, from, to, 1, s), s); };
  const auto step = [&](int64_t from, int64_t to) {
    const Shape like = shape(v).with(static_cast<size_t>(a), to - from);
    return along_axis(Expression(slice_axis(steps, 0, from, to, 1, s), s), a, like, s);
  };
  // At an edge, of the element there and the next one or two, `near` and `far` apart.
  const auto at_edge = [&](int64_t edge, int64_t next, int64_t third, const Expression& near, const Expression& far) {
    const Expression first = part(edge, edge + 1), second = part(next, next + 1);
    if (edge_order == 1) return (second - first) / near;
    const Expression both = near + far;
    return second * (both / (near * far)) - first * ((near + both) / (near * both)) -
           part(third, third + 1) * (near / (far * both));
  };
  const auto inner = [&](int64_t i) {
    return step(std::clamp<int64_t>(i, 0, n - 2), std::clamp<int64_t>(i, 0, n - 2) + 1);
  };
  std::vector<Handle> parts{at_edge(0, 1, std::min<int64_t>(2, n - 1), inner(0), inner(1))};
  if (n > 2) {
    // The derivative of the parabola through three neighbours.
    const Expression before = step(0, n - 2), behind = step(1, n - 1), both = before + behind;
    const Expression left = -behind / (before * both), middle = (behind - before) / (before * behind),
                     right = before / (behind * both);
    parts.push_back(left * part(0, n - 2) + middle * part(1, n - 1) + right * part(2, n));
  }
  const Expression last = at_edge(n - 1, n - 2, std::max<int64_t>(n - 3, 0), inner(n - 2), inner(n - 3));
  parts.push_back(-last);
  return convert(concatenated(parts, a, s), result, s);
}

std::vector<Handle> gradients(const Operand& f, std::span<const double> spacings, const Axes& axes, int edge_order,
                              Location at) {
  const Site s{"gradient", at};
  const Handle v = value(f, s);
  std::vector<int> list = axes.list;
  if (axes.every) {
    list.clear();
    for (int a = 0; a < shape(v).rank(); ++a) list.push_back(a);
  }
  normal_axes(axes, type(v), s);  // throws for axes that are wrong
  if (spacings.size() > 1 && spacings.size() != list.size()) {
    s.shape_error("needs one spacing or one for each of " + std::to_string(list.size()) + " axes, got " +
                  std::to_string(spacings.size()));
  }
  std::vector<Handle> out;
  for (size_t i = 0; i < list.size(); ++i) {
    const double spacing = spacings.empty() ? 1 : spacings[spacings.size() == 1 ? 0 : i];
    out.push_back(gradient(v, spacing, list[i], edge_order, at));
  }
  return out;
}

Handle trapezoid(const Operand& y, double dx, int axis, Location at) {
  const Site s{"trapezoid", at};
  const auto [v, result] = widened(y, s);
  const int a = axis_in(axis, v, s);
  const int64_t n = extent_of(v, a);
  if (n < 2) return splat(0, {result, shape(v).without(static_cast<size_t>(a))}, s);
  const Expression sums = Expression(slice_axis(v, a, 1, n, 1, s), s) + Expression(slice_axis(v, a, 0, n - 1, 1, s), s);
  const Expression total(reduce_axes<prim::ReduceSum>(sums, {a}, false, s), s);
  return convert(total * (0.5 * dx), result, s);
}

Handle trapezoid_at(const Operand& y, const Operand& x, int axis, Location at) {
  const Site s{"trapezoid", at};
  const DType result = to_inexact(promoted_dtype(y, x, s)), d = wide(result);
  const Handle v = value(y, d, s);
  const int a = axis_in(axis, v, s);
  const int64_t n = extent_of(v, a);
  // Coordinates are a vector along the axis or broadcast to y.
  Handle points = value(x, d, s);
  points = shape(points).rank() == 1 ? broadcast_in(coordinates(points, d, v, a, s), shape(v), {a}, s)
                                     : broadcast(points, shape(v), s);
  if (n < 2) return splat(0, {result, shape(v).without(static_cast<size_t>(a))}, s);
  const Expression sums = Expression(slice_axis(v, a, 1, n, 1, s), s) + Expression(slice_axis(v, a, 0, n - 1, 1, s), s);
  const Expression areas = Expression(neighbours_differ(points, a, s), s) * sums;
  return convert(Expression(reduce_axes<prim::ReduceSum>(areas, {a}, false, s), s) * 0.5, result, s);
}

Handle interp(const Operand& x, const Operand& xp, const Operand& fp, std::optional<double> left,
              std::optional<double> right, Location at) {
  return interp_extrapolated(x, xp, fp, left, right, false, false, at);
}

Handle interp_extrapolated(const Operand& x, const Operand& xp, const Operand& fp, std::optional<double> left,
                           std::optional<double> right, bool continues_left, bool continues_right, Location at) {
  const Site s{"interp", at};
  const Operand* all[] = {&x, &xp, &fp};
  const DType result = to_inexact(promoted_dtype(all, s)), d = wide(result);
  const Handle v = value(x, d, s), points = vector_operand(value(xp, d, s), "the points xp", s),
               values = vector_operand(value(fp, d, s), "the values fp", s);
  if (is_complex(d)) reject(type(v), "real numbers", s);
  const int64_t n = extent_of(points, 0);
  if (n == 0 || extent_of(values, 0) != n) {
    s.shape_error("needs as many values as points, at least one, got " + to_string(type(points)) + " and " +
                  to_string(type(values)));
  }
  const Shape of = shape(v);
  const auto end = [&](Handle list, int64_t i) {
    return Expression(broadcast(reshape(slice_axis(list, 0, i, i + 1, 1, s), Shape(), s), of, s), s);
  };
  const Expression at_x(v, s);
  const Expression first = end(points, 0), last = end(points, n - 1);
  Expression y = end(values, 0);
  if (n > 1) {
    // The last interval that begins at or before x.
    const Expression before = Expression(position_of(points, v, side::right, s), s) - 1.0;
    const Expression i(emit<prim::Clamp>(s, {before.number(0), before, before.number(static_cast<double>(n - 2))}), s);
    const Expression next = i + 1.0;
    const auto element = [&](Handle list, Expression k) {
      return Expression(take(list, k.handle(), 0, mode::clip, at), s);
    };
    const Expression x0 = element(points, i), x1 = element(points, next), y0 = element(values, i),
                     y1 = element(values, next);
    const Expression width = x1 - x0, none = width == 0.0, safe = none.choose(width.number(1), width);
    // From the nearer end, so that the values at both are exact.
    const Expression t = (at_x - x0) / safe, rise = y1 - y0;
    const Expression line = (t < 0.5).choose(y0 + t * rise, y1 - ((x1 - at_x) / safe) * rise);
    y = none.choose(y0, line);
  }
  const Expression below = left ? y.number(*left) : end(values, 0),
                   above = right ? y.number(*right) : end(values, n - 1);
  if (!continues_right) y = (at_x > last).choose(above, y);
  if (!continues_left) y = (at_x < first).choose(below, y);
  // NaN compares false everywhere.
  const Expression unordered(emit<prim::Ne>(s, {v, v}), s);
  return convert(unordered.choose(at_x, y), result, s);
}

Handle interp_periodic(const Operand& x, const Operand& xp, const Operand& fp, double period, Location at) {
  const Site s{"interp", at};
  const Operand* all[] = {&x, &xp, &fp};
  const DType result = to_inexact(promoted_dtype(all, s)), d = wide(result);
  const Handle v = value(x, d, s), points = vector_operand(value(xp, d, s), "the points xp", s),
               values = vector_operand(value(fp, d, s), "the values fp", s);
  if (is_complex(d)) reject(type(v), "real numbers", s);
  if (period == 0 || !std::isfinite(period)) {
    s.shape_error("the period must be a finite number that is not 0, got " + std::to_string(period));
  }
  const int64_t n = extent_of(points, 0);
  if (n == 0 || extent_of(values, 0) != n) return interp(v, points, values, std::nullopt, std::nullopt, at);
  const Operand length = literal_operand(std::abs(period));
  // One more point on either side, a period away.
  const Handle in_period = mod(points, length, at);
  const Handle order = argsort(in_period, 0, false, at);
  const auto continued = [&](Handle list, double step) {
    const Expression sorted(take(list, order, 0, mode::clip, at), s);
    const Expression first(slice_axis(sorted, 0, 0, 1, 1, s), s), last(slice_axis(sorted, 0, n - 1, n, 1, s), s);
    return concatenated(std::vector<Handle>{last - step, sorted, first + step}, 0, s);
  };
  const Handle y = interp(mod(v, length, at), continued(in_period, std::abs(period)), continued(values, 0),
                          std::nullopt, std::nullopt, at);
  return convert(y, result, s);
}

Handle unwrap(const Operand& x, int axis, std::optional<double> discont, double period, Location at) {
  const Site s{"unwrap", at};
  const auto [v, result] = widened_real(x, s);
  const int a = axis_in(axis, v, s);
  const int64_t n = extent_of(v, a);
  if (n < 2) return convert(v, result, s);
  // The multiples of the period that are added are constant wherever they have a derivative.
  const Expression step = Expression(neighbours_differ(v, a, s), s).fixed();
  const double half = period / 2;
  Expression wrapped(mod((step + half).handle(), lit(period), at), s);
  wrapped = wrapped - half;
  wrapped = ((wrapped == -half) & (step > 0.0)).choose(wrapped.number(half), wrapped);
  const Expression small = step.of<prim::Abs>() < std::max(discont.value_or(half), half);
  const Expression correction = small.choose(step.number(0), wrapped - step);
  const Handle sums = emit<prim::Cumsum>(s, {correction}, {{"axis", int64_t{a}}, {"reverse", false}});
  return convert(Expression(v, s) + Expression(padded_along(sums, a, 1, 0, 0, s), s), result, s);
}

// ---- cumulative functions

namespace {

/// Along the leading axis. With m the running maximum, s[i] = exp(m[i-1] - m[i]) s[i-1] + exp(x[i] - m[i]), and the
/// result is m + log(s), whose derivative by m vanishes. Infinite and NaN maxima are the results themselves.
Handle running_logsumexp(Handle x, const Site& s) {
  const int64_t n = extent_of(x, 0);
  const Expression elements(x, s);
  const Expression most(emit<prim::Cummax>(s, {x}, {{"axis", int64_t{0}}, {"reverse", false}}), s);
  const Expression top = most.fixed(), finite(isfinite(top.handle(), s.at), s), none = top.number(0);
  const Expression shift = finite.choose(top, none);
  const Expression terms = finite.choose(elements - shift, none).of<prim::Exp>();
  const Expression before(slice_axis(top, 0, 0, n - 1, 1, s), s), after(slice_axis(top, 0, 1, n, 1, s), s);
  const Expression factors = (before == after).choose(before.number(0), before - after).of<prim::Exp>();
  const TraceBody step = [&](std::span<const Handle> in, std::vector<Handle>& out) {
    const Handle next = Expression(in[0], s) * Expression(in[1], s) + Expression(in[2], s);
    out = {next, next};
  };
  const Handle first = slice_axis(terms, 0, 0, 1, 1, s);
  const Handle carry[] = {reshape(first, shape(x).without(0), s)}, xs[] = {factors, slice_axis(terms, 0, 1, n, 1, s)};
  const Handle later = detail::scan(step, carry, xs, {}, {s.at, {}})[1];
  const Expression sums(concatenated(std::vector<Handle>{first, later}, 0, s), s);
  return finite.choose(shift + sums.of<prim::Log>(), most);
}

/// For many threads.
Handle logsumexp_of_prefixes(Handle x, const Site& s) {
  const TraceBody combine = [&](std::span<const Handle> both, std::vector<Handle>& out) {
    out.push_back(logaddexp(both[0], both[1], s.at));
  };
  const Handle xs[] = {x};
  return associative_scan(combine, xs, false, 0, {s.at, {}})[0];
}

}  // namespace

Handle cumlogsumexp(const Operand& x, int axis, bool reverse, Location at) {
  const Site s{"cumlogsumexp", at};
  const auto [v, result] = widened_real(x, s);
  const int a = axis_in(axis, v, s);
  if (shape(v).num_elements() == 0) return convert(v, result, s);
  constexpr int64_t kLong = 1 << 14, kLanes = 256;
  const int64_t n = extent_of(v, a);
  const bool in_order = n <= kLong || shape(v).num_elements() >= n * kLanes;
  const Handle along = moveaxis(reverse ? flip(v, a, at) : v, a, 0, at);
  const Handle y = moveaxis(in_order ? running_logsumexp(along, s) : logsumexp_of_prefixes(along, s), 0, a, at);
  return convert(reverse ? flip(y, a, at) : y, result, s);
}

Handle cumsum_of(const Operand& x, std::optional<int> axis, bool reverse, Location at) {
  return cumulative<prim::Cumsum>(x, axis, reverse, true, {"cumsum", at});
}
Handle cumprod_of(const Operand& x, std::optional<int> axis, bool reverse, Location at) {
  return cumulative<prim::Cumprod>(x, axis, reverse, true, {"cumprod", at});
}
Handle cummax_of(const Operand& x, std::optional<int> axis, bool reverse, Location at) {
  return cumulative<prim::Cummax>(x, axis, reverse, false, {"cummax", at});
}
Handle cummin_of(const Operand& x, std::optional<int> axis, bool reverse, Location at) {
  return cumulative<prim::Cummin>(x, axis, reverse, false, {"cummin", at});
}

Handle cumsum_from_identity(const Operand& x, std::optional<int> axis, bool reverse, Location at) {
  const Site s{"cumsum", at};
  const Handle y = cumsum_of(x, axis, reverse, at);
  return cumulative_from(y, splat(0, {dtype(y), {}}, s), axis, reverse, s);
}
Handle cumprod_from_identity(const Operand& x, std::optional<int> axis, bool reverse, Location at) {
  const Site s{"cumprod", at};
  const Handle y = cumprod_of(x, axis, reverse, at);
  return cumulative_from(y, splat(1, {dtype(y), {}}, s), axis, reverse, s);
}
Handle cummax_from_identity(const Operand& x, std::optional<int> axis, bool reverse, Location at) {
  const Site s{"cummax", at};
  const Handle y = cummax_of(x, axis, reverse, at);
  return cumulative_from(y, extremum_identity(false, {dtype(y), {}}, s), axis, reverse, s);
}
Handle cummin_from_identity(const Operand& x, std::optional<int> axis, bool reverse, Location at) {
  const Site s{"cummin", at};
  const Handle y = cummin_of(x, axis, reverse, at);
  return cumulative_from(y, extremum_identity(true, {dtype(y), {}}, s), axis, reverse, s);
}

}  // namespace calque::detail::ops
