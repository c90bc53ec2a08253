// Transformations of dynamic indexing. gather transposes to scatter_add and vice versa. Windows with batched starts
// become gathers and scatters with batching dimensions.
#include <algorithm>

#include "primitives/core/batched_axes.h"
#include "primitives/core/emit.h"

namespace calque::primitives {
namespace {

using List = std::vector<int64_t>;

List all_axes(const Shape& shape) {
  List axes;
  for (int64_t d = 0; d < shape.rank(); ++d) axes.push_back(d);
  return axes;
}

bool any_batched(const Batching& b, size_t first) {
  return std::any_of(b.batched.begin() + static_cast<std::ptrdiff_t>(first), b.batched.end(), [](bool x) { return x; });
}

/// The starts of a window as one index vector per example, clamped so that the window is inside x.
Value clamped_starts(Batching& b, size_t first, const Shape& x, const List& sizes) {
  const Writer& w = b.writer;
  const Value one = b.operands[first];
  const DType from = w.dtype(one);
  const DType dtype = from == DType::u64 || from == DType::i64 ? DType::i64
                      : from == DType::u32                     ? DType::i64
                                                               : DType::i32;
  ValueList starts;
  for (size_t d = 0; d < sizes.size(); ++d) {
    Value start = b.batched_operand(first + d);
    if (from == DType::u64) {  // values beyond i64 must stay out of range
      const Type type = w.type(start);
      start = w.emit(id_of<Min>, {start, w.graph().add_literal(Literal::of<uint64_t>(INT64_MAX), Type(type))});
    }
    start = w.convert(start, dtype);
    const Type type = w.type(start);
    const auto literal = [&](int64_t value) { return w.graph().add_literal(make_literal(dtype, value), Type(type)); };
    start = w.emit(id_of<Clamp>, {literal(0), start, literal(x[d] - sizes[d])});
    starts.push_back(w.reshape(start, Shape{b.size, 1}));
  }
  if (starts.empty()) return w.zeros({DType::i32, Shape{b.size, 0}});
  return w.concatenate(std::move(starts), 1);
}

/// Unbatched starts, with a start of 0 for the batch dimension in front.
ValueList starts_with_batch(const Batching& b, ValueList operands, size_t first) {
  const DType dtype = b.operands.size() > first ? b.writer.dtype(b.operands[first]) : DType::i32;
  operands.push_back(b.writer.zeros({dtype, {}}));
  for (size_t i = first; i < b.operands.size(); ++i) operands.push_back(b.operands[i]);
  return operands;
}

}  // namespace

// ---- dynamic_slice

void DynamicSlice::jvp(Jvp& j) {
  if (!j.active(0)) return;
  ValueList operands{j.tangents[0]};
  for (size_t i = 1; i < j.primals.size(); ++i) operands.push_back(j.primals[i]);
  j.add(j.emit<DynamicSlice>(std::move(operands), j.attributes()));
}

void DynamicSlice::transpose(Transposition& t) {
  ValueList operands{t.writer.zeros(t.operand_type(0)), t.cotangents[0]};
  for (size_t i = 1; i < t.operands.size(); ++i) operands.push_back(t.operands[i]);
  t.add(0, t.emit<DynamicUpdateSlice>(std::move(operands)));
}

void DynamicSlice::batch(Batching& b) {
  const List& sizes = b.attributes().ints("sizes");
  if (!any_batched(b, 1)) {
    b.result(b.emit<DynamicSlice>(starts_with_batch(b, {b.operands[0]}, 1), {{"sizes", prepended(b.size, sizes)}}));
    return;
  }
  const Shape& x = b.operand_type(0).shape;
  const Value indices = clamped_starts(b, 1, x, sizes);
  const bool x_batched = b.batched[0];
  List offset, map, window = x_batched ? prepended(1, sizes) : sizes;
  for (int64_t d = 0; d < x.rank(); ++d) {
    offset.push_back(d + 1);
    map.push_back(x_batched ? d + 1 : d);
  }
  b.result(b.emit<Gather>({b.operands[0], indices}, {{"collapsed_slice_dims", List{}},
                                                     {"indices_batching_dims", x_batched ? List{0} : List{}},
                                                     {"mode", std::string("clip")},
                                                     {"offset_dims", std::move(offset)},
                                                     {"operand_batching_dims", x_batched ? List{0} : List{}},
                                                     {"slice_sizes", std::move(window)},
                                                     {"start_index_map", std::move(map)}}));
}

// ---- dynamic_update_slice

void DynamicUpdateSlice::jvp(Jvp& j) {
  if (!j.active(0) && !j.active(1)) return;
  ValueList operands{j.tangent_or_zero(0), j.tangent_or_zero(1)};
  for (size_t i = 2; i < j.primals.size(); ++i) operands.push_back(j.primals[i]);
  j.add(j.emit<DynamicUpdateSlice>(std::move(operands)));
}

void DynamicUpdateSlice::transpose(Transposition& t) {
  const auto with_starts = [&](ValueList operands) {
    for (size_t i = 2; i < t.operands.size(); ++i) operands.push_back(t.operands[i]);
    return operands;
  };
  const Type& update = t.operand_type(1);
  if (t.linear(0)) {
    t.add(0, t.emit<DynamicUpdateSlice>(with_starts({t.cotangents[0], t.writer.zeros(update)})));
  }
  if (t.linear(1)) {
    t.add(1, t.emit<DynamicSlice>(with_starts({t.cotangents[0]}),
                                  {{"sizes", List(update.shape.begin(), update.shape.end())}}));
  }
}

void DynamicUpdateSlice::batch(Batching& b) {
  if (!any_batched(b, 2)) {
    b.result(b.emit<DynamicUpdateSlice>(starts_with_batch(b, {b.batched_operand(0), b.batched_operand(1)}, 2)));
    return;
  }
  const Shape& x = b.operand_type(0).shape;
  const Shape& update = b.operand_type(1).shape;
  const Value indices = clamped_starts(b, 2, x, List(update.begin(), update.end()));
  b.result(b.emit<Scatter>({b.batched_operand(0), indices, b.batched_operand(1)},
                           {{"indices_batching_dims", List{0}},
                            {"inserted_window_dims", List{}},
                            {"operand_batching_dims", List{0}},
                            {"scatter_dims_to_operand_dims", shifted(all_axes(x))},
                            {"update_window_dims", shifted(all_axes(x))}}));
}

// ---- gather

namespace {

/// The attributes of the scatter that writes windows back to where a gather read them.
Attributes scatter_of(const Attributes& gather) {
  return {{"indices_batching_dims", gather.ints("indices_batching_dims")},
          {"inserted_window_dims", gather.ints("collapsed_slice_dims")},
          {"operand_batching_dims", gather.ints("operand_batching_dims")},
          {"scatter_dims_to_operand_dims", gather.ints("start_index_map")},
          {"update_window_dims", gather.ints("offset_dims")}};
}

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

/// Index vectors clamped so that every window is inside x, as in mode "clip".
Value clipped_indices(const Writer& w, Value indices, const Attributes& gather, const Shape& x) {
  const List& map = gather.ints("start_index_map");
  const List& sizes = gather.ints("slice_sizes");
  const DType dtype = w.dtype(indices);
  if (dtype == DType::u64) {
    indices =
        w.emit(id_of<Min>, {indices, w.graph().add_literal(Literal::of<uint64_t>(INT64_MAX), Type(w.type(indices)))});
  }
  indices = w.convert(indices, DType::i64);
  const Type type = w.type(indices);
  const size_t last = type.shape.size() - 1;
  ValueList highs;
  for (const int64_t d : map) {
    const auto axis = static_cast<size_t>(d);
    highs.push_back(w.graph().add_literal(Literal::of<int64_t>(x[axis] - sizes[axis]), {DType::i64, Shape{1}}));
  }
  if (highs.empty()) return indices;
  const Value high = w.broadcast(w.concatenate(std::move(highs), 0), type.shape, {static_cast<int64_t>(last)});
  return w.emit(id_of<Clamp>, {w.zeros(type), indices, high});
}

}  // namespace

/// The tangent of a window outside x is zero.
void Gather::jvp(Jvp& j) {
  if (!j.active(0)) return;
  Attributes attributes = j.attributes();
  if (attributes.get<std::string>("mode") == "fill") attributes.set("mode", std::string("zero"));
  j.add(j.emit<Gather>({j.tangents[0], j.primals[1]}, std::move(attributes)));
}

void Gather::transpose(Transposition& t) {
  const Attributes& attributes = t.attributes();
  Value indices = t.operands[1];
  if (attributes.get<std::string>("mode") == "clip") {
    indices = clipped_indices(t.writer, indices, attributes, t.operand_type(0).shape);
  }
  t.add(0, t.emit<ScatterAdd>({t.writer.zeros(t.operand_type(0)), indices, t.cotangents[0]}, scatter_of(attributes)));
}

void Gather::batch(Batching& b) {
  const Attributes& a = b.attributes();
  List collapsed = a.ints("collapsed_slice_dims"), in_indices = a.ints("indices_batching_dims"),
       in_operand = a.ints("operand_batching_dims"), sizes = a.ints("slice_sizes"), map = a.ints("start_index_map"),
       offset = shifted(a.ints("offset_dims"));
  if (b.batched[1]) in_indices = shifted(in_indices);
  if (b.batched[0]) {
    collapsed = shifted(collapsed);
    in_operand = shifted(in_operand);
    map = shifted(map);
    if (b.batched[1]) {
      in_operand = prepended(0, in_operand);
      in_indices = prepended(0, in_indices);
      sizes = prepended(1, sizes);
    } else {  // the batch is an additional dimension of the window
      sizes = prepended(b.size, sizes);
      offset = prepended(0, offset);
    }
  }
  b.result(b.emit<Gather>({b.operands[0], b.operands[1]}, {{"collapsed_slice_dims", std::move(collapsed)},
                                                           {"indices_batching_dims", std::move(in_indices)},
                                                           {"mode", a.get<std::string>("mode")},
                                                           {"offset_dims", std::move(offset)},
                                                           {"operand_batching_dims", std::move(in_operand)},
                                                           {"slice_sizes", std::move(sizes)},
                                                           {"start_index_map", std::move(map)}}));
}

// ---- scatters

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

namespace {

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

}  // namespace

void ScatterMin::jvp(Jvp& j) { jvp_scatter_extremum(j); }
void ScatterMax::jvp(Jvp& j) { jvp_scatter_extremum(j); }

}  // namespace calque::primitives
