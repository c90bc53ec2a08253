#include "primitives/indexing/scatter.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "primitives/core/batched_axes.h"
#include "primitives/core/emit.h"
#include "primitives/core/index_walk.h"
#include "primitives/elementwise/numbers.h"
#include "primitives/indexing/indexing.h"
#include "primitives/indexing/windows.h"
#include "primitives/reduction/cumulative.h"
#include "primitives/registration.h"
#include "primitives/sorting/sort.h"

namespace calque::primitives {
namespace {

using List = std::vector<int64_t>;

/// The attributes of the gather that reads the windows that a scatter writes; windows outside are zero.
Attributes gather_of(const Attributes& scatter, const Shape& x, const Shape& updates) {
  const List& inserted = scatter.ints("inserted_window_dims");
  const List& batching = scatter.ints("operand_batching_dims");
  const List& window = scatter.ints("update_window_dims");
  List sizes;
  size_t next = 0;
  for (int64_t d = 0; d < x.rank(); ++d) {
    const bool one = has_axis(inserted, d) || has_axis(batching, d);
    sizes.push_back(one ? 1 : updates[static_cast<size_t>(window[next++])]);
  }
  return {{"collapsed_slice_dims", inserted},
          {"indices_batching_dims", scatter.ints("indices_batching_dims")},
          {"mode", std::string("zero")},
          {"offset_dims", window},
          {"operand_batching_dims", batching},
          {"slice_sizes", std::move(sizes)},
          {"start_index_map", scatter.ints("scatter_dims_to_operand_dims")}};
}

/// Gathers the windows that a scatter wrote; zeros if no window fits into x.
Value take_windows(const Writer& w, Value x, Value indices, const Attributes& scatter, const Shape& updates) {
  const Attributes gather = gather_of(scatter, w.shape(x), updates);
  const List& sizes = gather.ints("slice_sizes");
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] > w.shape(x)[d]) return w.zeros({w.dtype(x), updates});
  }
  return w.emit(id_of<Gather>, {x, indices}, gather);
}

/// The original element and the updates that equal the extremum share its tangent.
void jvp_scatter_extremum(Jvp& j) {
  const Writer& w = j.writer;
  const Type& x = j.operand_type(0);
  const Type& updates = j.operand_type(2);
  if (!j.active(0) && !j.active(2)) return;
  const Value indices = j.primals[1], result = j.results[0];
  const Value taken = take_windows(w, result, indices, j.attributes(), updates.shape);
  const Value of_x = w.convert(w.emit(id_of<Eq>, {j.primals[0], result}), x.dtype);
  const Value of_updates = w.convert(w.emit(id_of<Eq>, {j.primals[2], taken}), x.dtype);
  const auto gathered = [&](Value a, Value b) { return w.emit(id_of<ScatterAdd>, {a, indices, b}, j.attributes()); };
  const Value sum = gathered(j.active(0) ? w.mul(j.tangents[0], of_x) : w.zeros(x),
                             j.active(2) ? w.mul(j.tangents[2], of_updates) : w.zeros(updates));
  j.add(w.emit(id_of<Div>, {sum, gathered(of_x, of_updates)}));
}

/// Updates [number of windows, elements of a window], row-major in both, and the way back.
struct UpdateRows {
  UpdateRows(const Writer& w, const Shape& updates, const List& window) : writer(w), shape(updates) {
    Shape outer, inner;
    for (size_t d = 0; d < updates.size(); ++d) {
      if (!has_axis(window, static_cast<int64_t>(d))) {
        perm.push_back(static_cast<int64_t>(d));
        outer = outer.with_inserted(outer.size(), updates[d]);
      }
    }
    for (int64_t d : window) {
      perm.push_back(d);
      inner = inner.with_inserted(inner.size(), updates[static_cast<size_t>(d)]);
    }
    rows = outer.num_elements();
    columns = inner.num_elements();
  }

  Value of(Value v) const { return writer.reshape(writer.transpose(v, perm), Shape{rows, columns}); }
  Value back(Value v) const {
    List extents, inverse(perm.size());
    for (size_t i = 0; i < perm.size(); ++i) {
      extents.push_back(shape[static_cast<size_t>(perm[i])]);
      inverse[static_cast<size_t>(perm[i])] = static_cast<int64_t>(i);
    }
    return writer.transpose(writer.reshape(v, Shape(extents)), inverse);
  }

  const Writer& writer;
  Shape shape;
  List perm{};
  int64_t rows = 0, columns = 0;
};

/// Rows of x [n, m] at the indices [n].
Value take_rows(const Writer& w, Value x, Value indices) {
  const Shape of = w.shape(x);
  return w.emit(id_of<Gather>, {x, w.reshape(indices, Shape{of[0], 1})},
                {{"collapsed_slice_dims", List{0}},
                 {"indices_batching_dims", List{}},
                 {"mode", std::string("clip")},
                 {"offset_dims", List{1}},
                 {"operand_batching_dims", List{}},
                 {"slice_sizes", List{1, of[1]}},
                 {"start_index_map", List{0}}});
}

/// For each row of u [n, m] the product of the rows before it (after it if `reverse`) up to one whose key [n] differs.
/// Selected and not multiplied by zero, so an infinity stays among the rows of its key.
Value products_of_runs(const Writer& w, Value u, Value keys, bool reverse) {
  const Type type = w.type(u);
  const Type row{type.dtype, type.shape.without(0)};
  const Value neighbour = shift_along(w, keys, 0, reverse, -1);
  const Value same = w.broadcast(w.emit(id_of<Eq>, {keys, neighbour}), type.shape, {0});
  Graph body;
  const Value product = body.add_input(row), factor = body.add_input(row),
              in_run = body.add_input({DType::bool_, row.shape});
  const Writer inner(body, w.location());
  const Value next = inner.select(in_run, inner.mul(product, factor), inner.splat(1, row));
  body.set_outputs({next, next});
  std::vector<Graph> bodies;
  bodies.push_back(std::move(body));
  const Equation& scan = w.append(id_of<Scan>, {w.splat(1, row), shift_along(w, u, 0, reverse, 1), same},
                                  {{"carry", int64_t{1}},
                                   {"consts", int64_t{0}},
                                   {"length", type.shape[0]},
                                   {"reverse", reverse},
                                   {"unroll", int64_t{1}}},
                                  std::move(bodies));
  return scan.result(1);
}

/// For each update the product of the other updates of its element, or nothing where no element can have two. Windows
/// outside x must have been replaced by ones.
///
/// Sorted by the element, the updates of one element are a run, and the product of the others is that of those before
/// times that of those after: no division, so zeros are right in derivatives of every order.
std::optional<Value> products_of_others(const Writer& w, Value updates, Value indices, const Attributes& scatter,
                                        Value target) {
  const Shape positions = w.shape(indices);
  int64_t windows = 1;
  for (size_t d = 0; d + 1 < positions.size(); ++d) {
    if (!has_axis(scatter.ints("indices_batching_dims"), static_cast<int64_t>(d))) windows *= positions[d];
  }
  if (windows <= 1) return std::nullopt;
  // Windows of extent 1 in all indexed dimensions cover the same elements or none in common.
  const List& inserted = scatter.ints("inserted_window_dims");
  const List& indexed = scatter.ints("scatter_dims_to_operand_dims");
  const bool whole = std::ranges::all_of(indexed, [&](int64_t d) { return has_axis(inserted, d); });
  const Shape shape = w.shape(updates);
  UpdateRows rows(w, shape, scatter.ints("update_window_dims"));
  if (!whole) {
    rows.rows *= rows.columns;
    rows.columns = 1;
  }
  const Value keys = w.reshape(w.slice(rows.of(target), 1, 0, 1), Shape{rows.rows});
  const Equation& sort =
      w.append(id_of<Sort>, {keys}, {{"descending", false}, {"indices", true}, {"limit", rows.rows}, {"values", true}});
  const Value sorted_keys = sort.result(0), order = sort.result(1);
  const Value u = take_rows(w, rows.of(updates), order);
  const Value others = w.mul(products_of_runs(w, u, sorted_keys, false), products_of_runs(w, u, sorted_keys, true));
  const Value numbers = w.iota(DType::i32, Shape{rows.rows}, 0);
  const Value inverse = w.emit(id_of<Permute>, {numbers, order}, {{"limit", rows.rows}});
  return rows.back(take_rows(w, others, inverse));
}

}  // namespace

void infer_scatter(Typing& t, DTypeSet accepted) {
  const Type& x = t.operand(0);
  const Type& indices = t.operand(1);
  const Type& updates = t.operand(2);
  t.accept(0, accepted);
  if (x.dtype != updates.dtype) {
    t.dtype_error(fmt::format("operands differ in dtype, got {} and {}", to_string(x), to_string(updates)));
  }
  const List& inserted = t.ints("inserted_window_dims");
  const List& batching = t.ints("operand_batching_dims");
  const List& window_dims = t.ints("update_window_dims");
  check_indices(t, "scatter_dims_to_operand_dims", t.ints("scatter_dims_to_operand_dims"), "inserted_window_dims",
                inserted);
  t.check_axes("update_window_dims", window_dims, updates.shape.rank(), /*sorted=*/true);
  t.check_length("update_window_dims", window_dims, x.shape.size() - inserted.size() - batching.size());
  if (updates.shape.size() != window_dims.size() + indices.shape.size() - 1) {
    t.shape_error(fmt::format("expects updates of rank {}, got {}", window_dims.size() + indices.shape.size() - 1,
                              to_string(updates)));
  }
  size_t operand_dim = 0;
  size_t batch_dim = 0;
  for (size_t d = 0; d < updates.shape.size(); ++d) {
    if (has_axis(window_dims, static_cast<int64_t>(d))) {
      while (has_axis(inserted, static_cast<int64_t>(operand_dim)) ||
             has_axis(batching, static_cast<int64_t>(operand_dim))) {
        ++operand_dim;
      }
      if (updates.shape[d] > x.shape[operand_dim]) {
        t.shape_error(fmt::format("windows of {} do not fit into {}", to_string(updates), to_string(x)));
      }
      ++operand_dim;
    } else {
      if (updates.shape[d] != indices.shape[batch_dim]) {
        t.shape_error(fmt::format("updates {} and indices {} differ in dimension {}", to_string(updates),
                                  to_string(indices), batch_dim));
      }
      ++batch_dim;
    }
  }
  t.result(x);
}

template <class P, DTypeSet Accepted>
void ScatterRule<P, Accepted>::evaluate(Evaluation& e) {
  const AnyArray& x = e.operands[0];
  const AnyArray& updates = e.operands[2];
  const Attributes& a = e.attributes;
  const auto& batching = a.ints("operand_batching_dims");
  const auto& inserted = a.ints("inserted_window_dims");
  const auto& window_dims = a.ints("update_window_dims");
  std::vector<int64_t> window(x.shape().size(), 1);
  for (size_t d = 0, w = 0; d < window.size(); ++d) {
    const auto axis = static_cast<int64_t>(d);
    if (!has_axis(inserted, axis) && !has_axis(batching, axis)) {
      window[d] = updates.shape()[static_cast<size_t>(window_dims[w++])];
    }
  }
  const Windows windows(x.shape(), e.operands[1], a.ints("scatter_dims_to_operand_dims"), batching,
                        a.ints("indices_batching_dims"), window, /*clip=*/false);
  const WindowStrides strides(updates.shape(), window_dims, x.shape(), inserted, batching);
  AnyArray& out = e.add_result();
  visit_dtype(x.dtype(), [&]<class T>() {
    if constexpr (contains(Accepted, dtype_of<T>)) {
      using C = Compute<T>;
      const int64_t size = x.size();
      const T* from = x.data_as<T>();
      T* to = static_cast<T*>(out.mutable_data());
      std::vector<C> accumulators;
      C* into = nullptr;
      if constexpr (std::is_same_v<C, T>) {
        into = to;
      } else {
        accumulators.resize(static_cast<size_t>(size));
        into = accumulators.data();
      }
      for (int64_t i = 0; i < size; ++i) into[i] = static_cast<C>(from[i]);
      const T* update = updates.data_as<T>();
      IndexWalk walk(updates.shape().dims());
      for (int64_t i = 0, n = updates.size(); i < n; ++i, walk.next()) {
        const int64_t offset = windows.offsets[static_cast<size_t>(walk.dot(strides.in_batch))];
        if (offset < 0) continue;
        C& target = into[offset + walk.dot(strides.in_window)];
        target = P::template combine<C>(target, static_cast<C>(update[i]));
      }
      if constexpr (!std::is_same_v<C, T>) {
        for (int64_t i = 0; i < size; ++i) to[i] = round_once<T>(into[i]);
      }
    }
  });
}

/// The same update wins for values and tangents, since it is the last one in order.
void Scatter::jvp(Jvp& j) {
  if (!j.active(0) && !j.active(2)) return;
  j.add(j.emit<Scatter>({j.tangent_or_zero(0), j.primals[1], j.tangent_or_zero(2)}, j.attributes()));
}

void Scatter::transpose(Transposition& t) {
  const Writer& w = t.writer;
  const Type& x = t.operand_type(0);
  const Type& updates = t.operand_type(2);
  const Value indices = t.operands[1], ct = t.cotangents[0];
  if (t.linear(0)) t.add(0, w.emit(id_of<Scatter>, {ct, indices, w.zeros(updates)}, t.attributes()));
  if (!t.linear(2)) return;
  // Of several updates of one element the last one wins: scattering the numbers of the updates tells which.
  const auto take = [&](Value v) { return take_windows(w, v, indices, t.attributes(), updates.shape); };
  const Value numbers = w.reshape(w.iota(DType::i64, Shape{updates.shape.num_elements()}, 0), updates.shape);
  const Value stayed = w.emit(id_of<Scatter>, {w.zeros({DType::i64, x.shape}), indices, numbers}, t.attributes());
  const Value mine = w.emit(id_of<Eq>, {take(stayed), numbers});
  t.add(2, w.select(mine, take(ct), w.zeros(updates)));
}

void ScatterAdd::jvp(Jvp& j) {
  if (!j.active(0) && !j.active(2)) return;
  if (!j.active(2)) {
    j.add(j.tangents[0]);
    return;
  }
  j.add(j.emit<ScatterAdd>({j.tangent_or_zero(0), j.primals[1], j.tangents[2]}, j.attributes()));
}

void ScatterAdd::transpose(Transposition& t) {
  if (t.linear(0)) t.add(0, t.cotangents[0]);
  if (!t.linear(2)) return;
  t.add(2, take_windows(t.writer, t.cotangents[0], t.operands[1], t.attributes(), t.operand_type(2).shape));
}

/// An element has the factors x and its updates, and the derivative in each is the product of the others.
void ScatterMul::jvp(Jvp& j) {
  const Writer& w = j.writer;
  const Type x = j.operand_type(0), updates = j.operand_type(2);
  const bool of_updates = j.active(2) && updates.shape.num_elements() > 0;
  if (!j.active(0) && !of_updates) return;
  const Value indices = j.primals[1];
  const DType wide = size_of(x.dtype) == 2 ? DType::f32 : x.dtype;
  const Value wide_updates = w.convert(j.primals[2], wide);
  Value tangent = w.zeros({wide, x.shape});
  if (j.active(0)) {
    const Value factor = j.emit<ScatterMul>({w.splat(1, {wide, x.shape}), indices, wide_updates}, j.attributes());
    tangent = w.mul(w.convert(j.tangents[0], wide), factor);
  }
  if (of_updates) {
    const int64_t size = x.shape.num_elements();
    // Elements are numbered from 1; 0 is outside.
    const DType number = size < INT32_MAX ? DType::i32 : DType::i64;
    const Value numbers = w.reshape(w.iota(number, Shape{size}, 0), x.shape);
    const Value target =
        take_windows(w, w.add(numbers, w.splat(1, w.type(numbers))), indices, j.attributes(), updates.shape);
    const Value outside = w.emit(id_of<Eq>, {target, w.zeros(w.type(target))});
    const Value inside_updates = w.select(outside, w.splat(1, {wide, updates.shape}), wide_updates);
    Value factor = take_windows(w, w.convert(j.primals[0], wide), indices, j.attributes(), updates.shape);
    const auto others = products_of_others(w, inside_updates, indices, j.attributes(), target);
    if (others) factor = w.mul(factor, *others);
    tangent = j.emit<ScatterAdd>({tangent, indices, w.mul(w.convert(j.tangents[2], wide), factor)}, j.attributes());
  }
  j.add(w.convert(tangent, x.dtype));
}

void ScatterMin::jvp(Jvp& j) { jvp_scatter_extremum(j); }

void ScatterMax::jvp(Jvp& j) { jvp_scatter_extremum(j); }

void batch_scatter(Batching& b) {
  const Attributes& a = b.attributes();
  List in_indices = a.ints("indices_batching_dims"), in_operand = shifted(a.ints("operand_batching_dims")),
       window = shifted(a.ints("update_window_dims"));
  if (b.batched[1]) {
    in_indices = prepended(0, shifted(in_indices));
    in_operand = prepended(0, in_operand);
  } else {
    window = prepended(0, window);
  }
  b.result(b.writer.emit(b.equation.id(), {b.batched_operand(0), b.operands[1], b.batched_operand(2)},
                         {{"indices_batching_dims", std::move(in_indices)},
                          {"inserted_window_dims", shifted(a.ints("inserted_window_dims"))},
                          {"operand_batching_dims", std::move(in_operand)},
                          {"scatter_dims_to_operand_dims", shifted(a.ints("scatter_dims_to_operand_dims"))},
                          {"update_window_dims", std::move(window)}}));
}

// Here, where the evaluation of scatters is defined.
template void register_family<IndexingList>(std::span<const Registration>);

}  // namespace calque::primitives
