// Functions by indices: coordinates, updates at indices, segments, positions of elements that are not 0.
#include <limits>

#include "frontend/vocabulary/common.h"

namespace calque::detail::ops {
namespace {

Handle integer_operand(const Operand& x, const Site& s) {
  const Handle v = value(x, s);
  if (!is_integer(dtype(v))) reject(type(v), "integer indices", s);
  return v;
}

/// As i32 or i64, whichever holds the dtype and n.
Expression as_index(Handle i, int64_t n, const Site& s) {
  const DType d = dtype(i);
  if (d == DType::u64) {
    // Indices that i64 does not hold are out of bounds as the greatest one is.
    i = emit<prim::Min>(s, {i, literal(make_literal(DType::u64, INT64_MAX), type(i), s.at)});
  }
  const bool wide_index = size_of(d) == 8 || d == DType::u32 || n > INT32_MAX;
  return {convert(i, wide_index ? DType::i64 : DType::i32, s), s};
}

Handle with_vector_dim(Handle i, const Site& s) {
  const Shape own = shape(i);
  return reshape(i, own.with_inserted(own.size(), 1), s);
}

template <class P>
Handle scatter_rows(Handle x, Handle rows, Handle updates, const Site& s) {
  const int index_rank = shape(rows).rank();
  Ints window;
  for (int i = index_rank; i < shape(updates).rank(); ++i) window.push_back(i);
  return emit<P>(s, {x, with_vector_dim(rows, s), updates},
                 {{"indices_batching_dims", Ints{}},
                  {"inserted_window_dims", Ints{0}},
                  {"operand_batching_dims", Ints{}},
                  {"scatter_dims_to_operand_dims", Ints{0}},
                  {"update_window_dims", window}});
}

/// The combination of rows of x with equal ids.
template <class P>
Handle segments_of(Handle x, const Operand& ids, int64_t segments, const Literal& identity, const Site& s) {
  const Type t = type(x);
  if (t.shape.rank() == 0) s.shape_error("needs an array of rank 1 or more, got " + to_string(t));
  if (segments < 0) s.shape_error("the number of segments must not be negative, got " + std::to_string(segments));
  const Handle i = vector_operand(integer_operand(ids, s), "ids", s);
  if (extent_of(i, 0) != t.shape[0]) {
    s.shape_error("needs an id for each row, got " + to_string(t) + " and " + to_string(type(i)));
  }
  const Handle initial = literal(identity, {t.dtype, t.shape.with(0, segments)}, s.at);
  if (segments == 0) return initial;
  // Negative ids are out of bounds, which the scatter drops.
  const Expression e = as_index(i, segments, s);
  const Expression row = (e < 0.0).choose(e.number(static_cast<double>(segments)), e);
  return scatter_rows<P>(initial, row, x, s);
}

template <class P>
Handle segment_extremum(const Operand& x, const Operand& ids, int64_t segments, bool least, const Site& s) {
  const Handle v = value(x, s);
  const DType d = dtype(v);
  if (is_complex(d)) reject(type(v), "ordered numbers", s);
  const Literal identity = visit_dtype(d, [&]<class T>() {
    if constexpr (is_complex(dtype_of<T>)) {
      return Literal::of(T());
    } else if constexpr (is_floating(dtype_of<T>)) {
      return make_literal(d, least ? __builtin_inf() : -__builtin_inf());
    } else {
      return Literal::of(least ? std::numeric_limits<T>::max() : std::numeric_limits<T>::lowest());
    }
  });
  return segments_of<P>(v, ids, segments, identity, s);
}

/// Row-major strides.
Ints strides_of(const Shape& of) {
  Ints strides(of.size(), 1);
  for (size_t i = of.size(); i-- > 1;) strides[i - 1] = strides[i] * of[i];
  return strides;
}

void check_index_shape(const Shape& of, const Site& s) {
  for (int64_t n : of) {
    if (n > INT32_MAX) s.shape_error("extents are too large for indices of i32");
  }
  checked_product(Ints(of.begin(), of.end()), s);
}

}  // namespace

std::vector<Handle> unravel_index(const Operand& indices, const Shape& of, Location at) {
  const Site s{"unravel_index", at};
  const Handle i = integer_operand(indices, s);
  check_index_shape(of, s);
  const int64_t n = of.num_elements();
  if (n == 0 && shape(i).num_elements() > 0) s.shape_error("an array without elements has no indices");
  const Expression own = as_index(i, n, s);
  // Negative indices count from the end; then the nearest element.
  Expression rest = (own < 0.0).choose(own + static_cast<double>(n), own);
  rest = Expression(emit<prim::Clamp>(s, {rest.number(0), rest, rest.number(static_cast<double>(n - 1))}), s);
  std::vector<Handle> out(of.size());
  for (size_t a = of.size(); a-- > 0;) {
    const Expression extent = rest.number(static_cast<double>(std::max<int64_t>(of[a], 1)));
    out[a] = convert(rest.of<prim::Rem>(extent), DType::i32, s);
    rest = rest / extent;
  }
  return out;
}

Handle ravel_multi_index(std::span<const Operand> indices, const Shape& of, mode out_of_bounds, Location at) {
  const Site s{"ravel_multi_index", at};
  if (indices.size() != of.size()) {
    s.shape_error("needs an index array for each of " + std::to_string(of.size()) + " dimensions, got " +
                  std::to_string(indices.size()));
  }
  check_index_shape(of, s);
  if (of.num_elements() > INT32_MAX) s.shape_error("the array is too large for indices of i32");
  if (of.empty()) return splat(0, {DType::i32, Shape()}, s);
  std::vector<Handle> all;
  for (const Operand& x : indices) all.push_back(integer_operand(x, s));
  broadcast_together(all, s);
  const Ints strides = strides_of(of);
  std::optional<Expression> sum;
  for (size_t a = 0; a < all.size(); ++a) {
    Expression i = as_index(all[a], of[a], s);
    const auto n = static_cast<double>(of[a]);
    if (out_of_bounds == mode::wrap && of[a] > 0) {
      i = Expression(mod(i.handle(), i.number(n).handle(), at), s);
    } else {
      if (out_of_bounds == mode::fill) i = (i < 0.0).choose(i + n, i);
      i = Expression(emit<prim::Clamp>(s, {i.number(0), i, i.number(std::max(n - 1, 0.0))}), s);
    }
    const Expression term = i.as(DType::i32) * static_cast<double>(strides[a]);
    sum = sum ? *sum + term : term;
  }
  return *sum;
}

Handle fill_diagonal(const Operand& x, const Operand& number, Location at) {
  const Site s{"fill_diagonal", at};
  const Handle v = value(x, s);
  const Type t = type(v);
  const int rank = t.shape.rank();
  if (rank < 2) s.shape_error("needs an array of two or more dimensions, got " + to_string(t));
  for (size_t a = 1; rank > 2 && a < t.shape.size(); ++a) {
    if (t.shape[a] != t.shape[0]) s.shape_error("dimensions differ, got " + to_string(t));
  }
  const Handle fill = value_fitting(number, t.dtype, s);
  const Expression row(counted(DType::i32, t.shape, 0, s), s);
  Handle filled_with = fill;
  if (shape(fill).rank() == 0) {
    filled_with = broadcast(fill, t.shape, s);
  } else if (t.shape.num_elements() > 0) {
    const Handle list = flattened_to_vector(fill, s);
    if (extent_of(list, 0) == 0) s.shape_error("needs values, got " + to_string(type(fill)));
    filled_with = broadcast_in(resize(list, Shape{t.shape[0]}, at), t.shape, {0}, s);
  }
  std::optional<Expression> on;
  for (int a = 1; a < rank; ++a) {
    const Expression same = row == Expression(counted(DType::i32, t.shape, a, s), s);
    on = on ? *on & same : same;
  }
  return select(*on, filled_with, v, s);
}

Handle place(const Operand& x, const Operand& mask, const Operand& values, Location at) {
  const Site s{"place", at};
  const Handle v = value(x, s), m = as_truth(mask, s);
  const Type t = type(v);
  if (shape(m) != t.shape) {
    s.shape_error("needs a mask of the array's shape, got " + to_string(t) + " and " + to_string(type(m)));
  }
  const Handle list = flattened_to_vector(value_fitting(values, t.dtype, s), s);
  const int64_t n = extent_of(list, 0);
  if (n == 0) s.shape_error("needs values, got " + to_string(type(list)));
  if (t.shape.num_elements() == 0) return v;
  if (n == 1) return select(m, broadcast(reshape(list, Shape{}, s), t.shape, s), v, s);
  // The number of true elements before each one.
  const Handle flat = flattened_to_vector(m, s);
  const Expression count(
      emit<prim::Cumsum>(s, {convert(flat, DType::i32, s)}, {{"axis", int64_t{0}}, {"reverse", false}}), s);
  const Expression which = (count - 1.0).of<prim::Rem>(count.number(static_cast<double>(n)));
  return select(m, reshape(take(list, which.handle(), 0, mode::clip, at), t.shape, s), v, s);
}

namespace {

/// Whether indices are inside an axis of extent n; negative ones count from its end.
Expression is_inside(Handle indices, int64_t n, const Site& s) {
  const Expression i = as_index(indices, n, s);
  return (i >= static_cast<double>(-n)) & (i < static_cast<double>(n));
}

Handle scalar_fill(const Operand& fill, DType d, const Site& s) {
  const Handle with = value_fitting(fill, d, s);
  if (shape(with).rank() != 0) s.shape_error("the fill value must be a scalar, got " + to_string(type(with)));
  return with;
}

}  // namespace

Handle take_filled(const Operand& x, const Operand& indices, int axis, const Operand& fill, Location at) {
  const Site s{"take", at};
  const Handle v = value(x, s), i = integer_operand(indices, s);
  const int a = axis_in(axis, v, s);
  const Handle taken = take(v, i, a, mode::fill, at);
  const Shape to = shape(taken);
  Ints dims;
  for (int d = 0; d < shape(i).rank(); ++d) dims.push_back(a + d);
  const Handle inside = broadcast_in(is_inside(i, extent_of(v, a), s), to, dims, s);
  return select(inside, taken, broadcast(scalar_fill(fill, dtype(v), s), to, s), s);
}

Handle take_along_axis_filled(const Operand& x, const Operand& indices, int axis, const Operand& fill, Location at) {
  const Site s{"take_along_axis", at};
  const Handle v = value(x, s), i = integer_operand(indices, s);
  const int a = axis_in(axis, v, s);
  const Handle taken = take_along_axis(v, i, a, mode::fill, at);
  const Shape to = shape(taken);
  const Handle inside = broadcast(is_inside(i, extent_of(v, a), s), to, s);
  return select(inside, taken, broadcast(scalar_fill(fill, dtype(v), s), to, s), s);
}

Handle put_along_axis(const Operand& x, const Operand& indices, const Operand& values, int axis, Location at) {
  return put_along_axis_in(x, indices, values, axis, mode::fill, at);
}

namespace {

/// Indices into an axis of extent n by the mode: for `fill`, those that are out of bounds after counting from the end.
Expression index_in(Expression i, int64_t n, mode out_of_bounds, const Site& s) {
  const auto size = static_cast<double>(n);
  switch (out_of_bounds) {
    case mode::fill:
      return (i < 0.0).choose(i + size, i);
    case mode::clip:
      return {emit<prim::Clamp>(s, {i.number(0), i, i.number(size - 1)}), s};
    case mode::wrap:
      return {mod(i.handle(), i.number(size).handle(), s.at), s};
  }
  __builtin_unreachable();
}

}  // namespace

Handle put_along_axis_in(const Operand& x, const Operand& indices, const Operand& values, int axis, mode out_of_bounds,
                         Location at) {
  const Site s{"put_along_axis", at};
  Handle v = value(x, s);
  const Type t = type(v);
  const int rank = t.shape.rank(), a = axis_in(axis, v, s);
  const auto ua = static_cast<size_t>(a);
  Handle i = integer_operand(indices, s);
  const Type ti = type(i);
  bool ok = ti.shape.rank() == rank;
  Shape common;
  if (ok) common = broadcast_shapes(t.shape.with(ua, 1), ti.shape.with(ua, 1), ok);
  if (!ok || common != t.shape.with(ua, 1)) {
    s.shape_error("needs indices of the array's rank that broadcast to it besides axis " + std::to_string(a) +
                  ", got " + to_string(t) + " and " + to_string(ti));
  }
  i = broadcast(i, common.with(ua, ti.shape[ua]), s);
  const Handle updates = broadcast(value_fitting(values, t.dtype, s), shape(i), s);
  const int64_t n = t.shape[ua];
  if (n == 0 || shape(i).num_elements() == 0) return v;
  const Handle wrapped = index_in(as_index(i, n, s), n, out_of_bounds, s);
  Ints batching;
  for (int d = 0; d < rank; ++d) {
    if (d != a) batching.push_back(d);
  }
  return emit<prim::Scatter>(s, {v, with_vector_dim(wrapped, s), updates},
                             {{"indices_batching_dims", batching},
                              {"inserted_window_dims", Ints{a}},
                              {"operand_batching_dims", batching},
                              {"scatter_dims_to_operand_dims", Ints{a}},
                              {"update_window_dims", Ints{}}});
}

Handle put(const Operand& x, const Operand& indices, const Operand& values, mode out_of_bounds, Location at) {
  const Site s{"put", at};
  const Handle v = value(x, s);
  const Type t = type(v);
  const Handle i = flattened_to_vector(integer_operand(indices, s), s);
  Handle updates = flattened_to_vector(value_fitting(values, t.dtype, s), s);
  const int64_t count = extent_of(i, 0), given = extent_of(updates, 0), n = t.shape.num_elements();
  if (count == 0 || n == 0) return v;
  if (given == 0) s.shape_error("needs values, got " + to_string(type(updates)));
  // Values are repeated as needed.
  updates = given == 1 ? broadcast(updates, Shape{count}, s) : resize(updates, Shape{count}, at);
  const Expression own = index_in(as_index(i, n, s), n, out_of_bounds, s);
  return reshape(scatter_rows<prim::Scatter>(flattened_to_vector(v, s), own, updates, s), t.shape, s);
}

// ---- segments

Handle segment_sum(const Operand& x, const Operand& ids, int64_t segments, Location at) {
  const Site s{"segment_sum", at};
  Handle v = value(x, s);
  v = convert(v, sum_result(dtype(v)), s);
  return segments_of<prim::ScatterAdd>(v, ids, segments, make_literal(dtype(v), int64_t{0}), s);
}
Handle segment_prod(const Operand& x, const Operand& ids, int64_t segments, Location at) {
  const Site s{"segment_prod", at};
  Handle v = value(x, s);
  v = convert(v, sum_result(dtype(v)), s);
  return segments_of<prim::ScatterMul>(v, ids, segments, make_literal(dtype(v), int64_t{1}), s);
}
Handle segment_max(const Operand& x, const Operand& ids, int64_t segments, Location at) {
  return segment_extremum<prim::ScatterMax>(x, ids, segments, false, {"segment_max", at});
}
Handle segment_min(const Operand& x, const Operand& ids, int64_t segments, Location at) {
  return segment_extremum<prim::ScatterMin>(x, ids, segments, true, {"segment_min", at});
}

// ---- elements that are not 0

Handle flatnonzero(const Operand& x, int64_t size, int64_t fill_value, Location at) {
  const Site s{"flatnonzero", at};
  const Handle mask = flattened_to_vector(as_truth(x, s), s);
  const int64_t n = extent_of(mask, 0);
  if (size < 0) s.shape_error("the size must not be negative, got " + std::to_string(size));
  if (n > INT32_MAX) s.shape_error("the array is too large for indices of i32");
  const Handle filled_with = splat(static_cast<double>(fill_value), {DType::i32, Shape{size}}, s);
  if (n == 0 || size == 0) return filled_with;
  // Each true element goes to the number of those before it; false ones, and those beyond the size, nowhere.
  const Expression count(
      emit<prim::Cumsum>(s, {convert(mask, DType::i32, s)}, {{"axis", int64_t{0}}, {"reverse", false}}), s);
  const Expression to = Expression(mask, s).choose(count - 1.0, count.number(static_cast<double>(size)));
  return scatter_rows<prim::Scatter>(filled_with, to, counted(DType::i32, Shape{n}, 0, s), s);
}

std::vector<Handle> nonzero(const Operand& x, int64_t size, int64_t fill_value, Location at) {
  const Site s{"nonzero", at};
  const Shape of = shape(value(x, s));
  if (of.rank() == 0) s.shape_error("needs an array of rank 1 or more");
  const Handle flat = flatnonzero(x, size, -1, at);
  const Expression i(flat, s), none = i < 0.0;
  if (of.num_elements() == 0) {
    return std::vector<Handle>(of.size(), splat(static_cast<double>(fill_value), type(flat), s));
  }
  std::vector<Handle> out = unravel_index(none.choose(i.number(0), i).handle(), of, at);
  for (Handle& h : out) h = none.choose(i.number(static_cast<double>(fill_value)), Expression(h, s));
  return out;
}

Handle argwhere(const Operand& x, int64_t size, int64_t fill_value, Location at) {
  const Site s{"argwhere", at};
  const Handle v = value(x, s);
  if (shape(v).rank() == 0) s.shape_error("needs an array of rank 1 or more, got " + to_string(type(v)));
  std::vector<Handle> columns = nonzero(v, size, fill_value, at);
  for (Handle& c : columns) c = reshape(c, Shape{size, 1}, s);
  return concatenated(columns, 1, s);
}

Handle extract(const Operand& condition, const Operand& x, int64_t size, const Operand& fill, Location at) {
  const Site s{"extract", at};
  Handle both[] = {as_truth(condition, s), value(x, s)};
  broadcast_together(both, s);
  return compress(flattened_to_vector(both[0], s), flattened_to_vector(both[1], s), 0, size, fill, at);
}

Handle compress(const Operand& condition, const Operand& x, int axis, int64_t size, const Operand& fill, Location at) {
  const Site s{"compress", at};
  const Handle v = value(x, s);
  const int a = axis_in(axis, v, s);
  const Handle c = vector_operand(as_truth(condition, s), "the condition", s);
  if (extent_of(c, 0) > extent_of(v, a)) {
    s.shape_error("the condition is longer than axis " + std::to_string(a) + ", got " + to_string(type(c)) + " and " +
                  to_string(type(v)));
  }
  // Beyond what the condition selects: the fill value.
  const Expression which(flatnonzero(c, size, -1, at), s);
  const Shape to = shape(v).with(static_cast<size_t>(a), size);
  const Handle rest = broadcast(scalar_fill(fill, dtype(v), s), to, s);
  if (extent_of(v, a) == 0) return rest;
  const Handle taken = take(v, which.handle(), a, mode::clip, at);
  const Handle some = broadcast_in(which >= 0.0, to, {a}, s);
  return select(some, taken, rest, s);
}

}  // namespace calque::detail::ops
