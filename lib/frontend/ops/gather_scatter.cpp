// Indexing by arrays and by dynamic starts. The primitives do not accept negative indices, which are wrapped once here.
// Indices are i32 unless the extents or their type require i64.
#include <algorithm>

#include "frontend/ops/common.h"

namespace calque::detail::ops {
namespace {

/// The indices as i32 or i64, naming the same elements of a dimension of extent n (out-of-bounds indices stay out of
/// bounds unless `wrap`).
Handle normal_indices(const Operand& indices, int64_t n, const Site& s, bool wrap = false) {
  Handle i = value(indices, s);
  const Type t = type(i);
  if (!is_integer(t.dtype)) reject(t, "integer indices", s);
  const bool wide_type = size_of(t.dtype) > 4 || t.dtype == DType::u32;
  if (t.dtype == DType::u64) {
    // u64 does not fit i64: indices beyond the extent become the extent, or are wrapped first.
    const Handle extent = splat(static_cast<double>(n), t, s);
    i = wrap && n > 0 ? emit<prim::Rem>(s, {i, extent}) : emit<prim::Min>(s, {i, extent});
  }
  return convert(i, wide_type || n > INT32_MAX ? DType::i64 : DType::i32, s);
}

/// Negative indices count from the end.
Handle wrapped_once(Handle i, int64_t n, const Site& s) {
  const Type t = type(i);
  const Handle negative = emit<prim::Lt>(s, {i, splat(0, t, s)});
  return select(negative, emit<prim::Add>(s, {i, splat(static_cast<double>(n), t, s)}), i, s);
}

/// Python's remainder by the extent.
Handle wrapped_always(Handle i, int64_t n, const Site& s) {
  return mod(i, splat(static_cast<double>(n), {dtype(i), {}}, s), s.at);
}

Handle bounded(const Operand& indices, int64_t n, mode m, const Site& s) {
  const Handle i = normal_indices(indices, n, s, m == mode::wrap);
  switch (m) {
    case mode::fill:
      return wrapped_once(i, n, s);
    case mode::clip:
      return i;
    case mode::wrap:
      return n == 0 ? i : wrapped_always(i, n, s);
  }
  __builtin_unreachable();
}

std::string primitive_mode(mode m) { return m == mode::fill ? "fill" : "clip"; }

/// The value that mode `fill` reads out of bounds: NaN, the minimum of signed and maximum of unsigned integers, true.
Handle filled(const Type& type, const Site& s) {
  return visit_dtype(type.dtype, [&]<class T>() {
    Literal l;
    if constexpr (std::same_as<T, bool>) {
      l = Literal::of(true);
    } else if constexpr (std::integral<T>) {
      l = Literal::of(std::is_signed_v<T> ? std::numeric_limits<T>::min() : std::numeric_limits<T>::max());
    } else if constexpr (is_complex(dtype_of<T>)) {
      const auto nan = std::numeric_limits<typename T::value_type>::quiet_NaN();
      l = Literal::of(T(nan, nan));
    } else {
      l = make_literal(type.dtype, __builtin_nan(""));
    }
    return literal(l, type, s.at);
  });
}

Handle with_vector(Handle indices, const Site& s) {
  const Shape own = shape(indices);
  return reshape(indices, own.with_inserted(own.size(), 1), s);
}

Ints numbers(int64_t first, int64_t end) {
  Ints out;
  for (int64_t i = first; i < end; ++i) out.push_back(i);
  return out;
}

}  // namespace

Handle take(const Operand& x, const Operand& indices, int axis, mode m, Location at) {
  const Site s{"take", at};
  const Handle v = value(x, s);
  const Type t = type(v);
  const int a = normal_axis(axis, t.shape.rank(), t, s);
  const auto ua = static_cast<size_t>(a);
  const int64_t n = t.shape[ua];
  const Handle i = bounded(indices, n, m, s);
  const Shape si = shape(i);
  Ints result(t.shape.begin(), t.shape.begin() + a);
  result.insert(result.end(), si.begin(), si.end());
  result.insert(result.end(), t.shape.begin() + a + 1, t.shape.end());
  if (n == 0) {
    if (m != mode::fill && si.num_elements() > 0) {
      s.shape_error("axis " + std::to_string(a) + " of " + to_string(t) + " is empty: no element to clip or wrap to");
    }
    return filled({t.dtype, Shape(result)}, s);
  }
  Ints offsets = numbers(0, a), sizes(t.shape.begin(), t.shape.end());
  const Ints after = numbers(a + si.rank(), static_cast<int64_t>(result.size()));
  offsets.insert(offsets.end(), after.begin(), after.end());
  sizes[ua] = 1;
  return emit<prim::Gather>(s, {v, with_vector(i, s)},
                            {{"collapsed_slice_dims", Ints{a}},
                             {"indices_batching_dims", Ints{}},
                             {"mode", primitive_mode(m)},
                             {"offset_dims", offsets},
                             {"operand_batching_dims", Ints{}},
                             {"slice_sizes", sizes},
                             {"start_index_map", Ints{a}}});
}

Handle take_along_axis(const Operand& x, const Operand& indices, int axis, mode m, Location at) {
  const Site s{"take_along_axis", at};
  Handle v = value(x, s);
  const Type t = type(v);
  const int rank = t.shape.rank(), a = normal_axis(axis, rank, t, s);
  const auto ua = static_cast<size_t>(a);
  const int64_t n = t.shape[ua];
  Handle i = bounded(indices, n, m, s);
  const Type ti = type(i);
  if (ti.shape.rank() != rank) {
    s.shape_error("needs indices of the array's rank, got " + to_string(t) + " and " + to_string(ti));
  }
  bool ok = true;
  const Shape common = broadcast_shapes(t.shape.with(ua, 1), ti.shape.with(ua, 1), ok);
  if (!ok) {
    s.shape_error("dimensions besides axis " + std::to_string(a) + " do not broadcast, got " + to_string(t) + " and " +
                  to_string(ti));
  }
  v = broadcast(v, common.with(ua, n), s);
  i = broadcast(i, common.with(ua, ti.shape[ua]), s);
  if (n == 0) {
    if (m != mode::fill && shape(i).num_elements() > 0) {
      s.shape_error("axis " + std::to_string(a) + " of " + to_string(t) + " is empty: no element to clip or wrap to");
    }
    return filled({t.dtype, shape(i)}, s);
  }
  Ints batching = numbers(0, rank);
  batching.erase(batching.begin() + a);
  return emit<prim::Gather>(s, {v, with_vector(i, s)},
                            {{"collapsed_slice_dims", Ints{a}},
                             {"indices_batching_dims", batching},
                             {"mode", primitive_mode(m)},
                             {"offset_dims", Ints{}},
                             {"operand_batching_dims", batching},
                             {"slice_sizes", Ints(static_cast<size_t>(rank), 1)},
                             {"start_index_map", Ints{a}}});
}

Handle gather(const Operand& x, std::span<const Operand> indices, Location at) {
  const Site s{"gather", at};
  const Handle v = value(x, s);
  const Type t = type(v);
  const auto count = static_cast<int64_t>(indices.size());
  if (count == 0) return v;
  if (count > t.shape.rank()) {
    s.shape_error(std::to_string(count) + " index arrays for " + to_string(t));
  }
  std::vector<Handle> all;
  DType d = DType::i32;
  bool empty = false;
  for (size_t k = 0; k < indices.size(); ++k) {
    all.push_back(bounded(indices[k], t.shape[k], mode::fill, s));
    d = promote(d, dtype(all.back()));
    empty = empty || t.shape[k] == 0;
  }
  broadcast_together(all, s);
  const Shape si = shape(all[0]);
  std::vector<Operand> parts;
  for (Handle h : all) parts.push_back(with_vector(convert(h, d, s), s));
  const Handle vectors = concatenate(parts, si.rank(), at);
  Ints result(si.begin(), si.end());
  result.insert(result.end(), t.shape.begin() + count, t.shape.end());
  if (empty) return filled({t.dtype, Shape(result)}, s);
  Ints sizes(t.shape.begin(), t.shape.end());
  std::fill_n(sizes.begin(), count, 1);
  return emit<prim::Gather>(s, {v, vectors},
                            {{"collapsed_slice_dims", numbers(0, count)},
                             {"indices_batching_dims", Ints{}},
                             {"mode", std::string("fill")},
                             {"offset_dims", numbers(si.rank(), static_cast<int64_t>(result.size()))},
                             {"operand_batching_dims", Ints{}},
                             {"slice_sizes", sizes},
                             {"start_index_map", numbers(0, count)}});
}

Handle scatter_add(const Operand& x, const Operand& indices, const Operand& updates, Location at) {
  const Site s{"scatter_add", at};
  const Handle v = value(x, s);
  const Type t = type(v);
  if (t.shape.rank() == 0) s.shape_error("needs an array of rank 1 or more, got " + to_string(t));
  if (is_bool(t.dtype)) reject(t, "numbers", s);
  const Handle i = bounded(indices, t.shape[0], mode::fill, s);
  const Shape si = shape(i);
  Ints wanted(si.begin(), si.end());
  wanted.insert(wanted.end(), t.shape.begin() + 1, t.shape.end());
  const Handle u = broadcast(value_fitting(updates, t.dtype, s), Shape(wanted), s);
  return emit<prim::ScatterAdd>(s, {v, with_vector(i, s), u},
                                {{"indices_batching_dims", Ints{}},
                                 {"inserted_window_dims", Ints{0}},
                                 {"operand_batching_dims", Ints{}},
                                 {"scatter_dims_to_operand_dims", Ints{0}},
                                 {"update_window_dims", numbers(si.rank(), static_cast<int64_t>(wanted.size()))}});
}

// ---- windows at dynamic starts

namespace {

/// Appends one start for each dimension of x, all of one dtype.
void append_starts(std::vector<Handle>& operands, const Type& x, std::span<const Operand> starts, const Site& s) {
  if (starts.size() != x.shape.size()) {
    s.shape_error("needs a start for each dimension of " + to_string(x) + ", got " + std::to_string(starts.size()));
  }
  const size_t first = operands.size();
  DType d = DType::i32;
  for (size_t k = 0; k < starts.size(); ++k) {
    const Handle i = normal_indices(starts[k], x.shape[k], s);
    if (shape(i).rank() != 0) s.shape_error("starts must be scalars, got " + to_string(type(i)));
    operands.push_back(wrapped_once(i, x.shape[k], s));
    d = promote(d, dtype(i));
  }
  for (size_t k = first; k < operands.size(); ++k) operands[k] = convert(operands[k], d, s);
}

}  // namespace

Handle dynamic_slice(const Operand& x, std::span<const Operand> starts, std::span<const int64_t> sizes, Location at) {
  const Site s{"dynamic_slice", at};
  const Handle v = value(x, s);
  const Type t = type(v);
  if (sizes.size() != t.shape.size()) {
    s.shape_error("needs a size for each dimension of " + to_string(t) + ", got " + std::to_string(sizes.size()));
  }
  for (size_t k = 0; k < sizes.size(); ++k) {
    if (sizes[k] < 0 || sizes[k] > t.shape[k]) {
      s.shape_error("a window of " + std::to_string(sizes[k]) + " does not fit dimension " + std::to_string(k) +
                    " of " + to_string(t));
    }
  }
  std::vector<Handle> operands{v};
  append_starts(operands, t, starts, s);
  return detail::emit(prim::get<prim::DynamicSlice>(), operands, {{"sizes", Ints(sizes.begin(), sizes.end())}}, at);
}

Handle dynamic_update_slice(const Operand& x, const Operand& update, std::span<const Operand> starts, Location at) {
  const Site s{"dynamic_update_slice", at};
  const Handle v = value(x, s);
  const Type t = type(v);
  const Handle u = value_fitting(update, t.dtype, s);
  const Type tu = type(u);
  bool fits = tu.shape.rank() == t.shape.rank();
  for (size_t k = 0; fits && k < tu.shape.size(); ++k) fits = tu.shape[k] <= t.shape[k];
  if (!fits) s.shape_error("the update does not fit, got " + to_string(t) + " and " + to_string(tu));
  std::vector<Handle> operands{v, u};
  append_starts(operands, t, starts, s);
  return detail::emit(prim::get<prim::DynamicUpdateSlice>(), operands, {}, at);
}

}  // namespace calque::detail::ops
