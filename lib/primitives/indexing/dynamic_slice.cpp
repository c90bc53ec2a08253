#include "primitives/indexing/dynamic_slice.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "primitives/core/batched_axes.h"
#include "primitives/core/emit.h"
#include "primitives/core/index_walk.h"
#include "primitives/core/lowering_helpers.h"
#include "primitives/indexing/windows.h"

namespace calque::primitives {
namespace {

using List = std::vector<int64_t>;

/// Checks that the operands from `first` on are rank-0 integers of one dtype, one per dimension of operand 0.
void check_starts(Typing& t, size_t first) {
  const Type& x = t.operand(0);
  if (t.num_operands() - first != x.shape.size()) {
    t.shape_error(
        fmt::format("expects a start for each dimension of {}, got {}", to_string(x), t.num_operands() - first));
  }
  for (size_t i = first; i < t.num_operands(); ++i) {
    t.accept(i, kInteger);
    t.rank_is(i, 0, "starts");
  }
  if (first < t.num_operands()) t.same_dtype(first);
}

/// The clamped starts of a window of extents `sizes`, from rank-0 operands.
std::vector<int64_t> clamped_starts(std::span<const AnyArray> starts, const Shape& x, std::span<const int64_t> sizes) {
  std::vector<int64_t> result;
  for (size_t d = 0; d < starts.size(); ++d) {
    result.push_back(std::clamp<int64_t>(index_at(starts[d], 0), 0, x[d] - sizes[d]));
  }
  return result;
}

int64_t dot(std::span<const int64_t> a, std::span<const int64_t> b) {
  int64_t sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

/// The clamped start in dimension d, whose scalar is operand `first + d`.
Scalar clamped_start(Lowering& l, size_t first, size_t d, int64_t extent, int64_t size) {
  if (extent == size) return l.index(0);
  return clamped_index(l, l.operand(first + d, {}), extent - size);
}

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

void DynamicSlice::infer(Typing& t) {
  const Type& x = t.operand(0);
  check_starts(t, 1);
  const List& sizes = t.ints("sizes");
  t.check_length("sizes", sizes, x.shape.size());
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] < 0 || sizes[i] > x.shape[i]) {
      t.shape_error(fmt::format("sizes {} do not fit into {}", to_text(sizes), to_string(x)));
    }
  }
  t.result(x.dtype, sizes);
}

void DynamicSlice::evaluate(Evaluation& e) {
  const AnyArray& x = e.operands[0];
  const auto strides = row_major_strides(x.shape());
  const auto starts = clamped_starts(e.operands.subspan(1), x.shape(), e.attributes.ints("sizes"));
  AnyArray& out = e.add_result();
  copy_strided(out.mutable_data(), x.data(), size_of(out.dtype()), out.shape().dims(), strides, dot(starts, strides));
}

Scalar DynamicSlice::lower(Lowering& l, const Equation& e, size_t, std::span<const Scalar> index) {
  const Shape& x = l.graph().shape(e.operand(0));
  const auto& sizes = e.attributes().ints("sizes");
  Indices in;
  for (size_t d = 0; d < index.size(); ++d) {
    in.push_back(l.add(clamped_start(l, 1, d, x[d], sizes[d]), index[d]));
  }
  return l.operand(0, in);
}

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

void DynamicUpdateSlice::infer(Typing& t) {
  const Type& x = t.operand(0);
  const Type& update = t.operand(1);
  check_starts(t, 2);
  if (x.dtype != update.dtype) {
    t.dtype_error(fmt::format("operands differ in dtype, got {} and {}", to_string(x), to_string(update)));
  }
  bool fits = x.shape.rank() == update.shape.rank();
  for (size_t i = 0; fits && i < x.shape.size(); ++i) fits = update.shape[i] <= x.shape[i];
  if (!fits) t.shape_error(fmt::format("the update {} does not fit into {}", to_string(update), to_string(x)));
  t.result(x);
}

void DynamicUpdateSlice::evaluate(Evaluation& e) {
  const AnyArray& x = e.operands[0];
  const AnyArray& update = e.operands[1];
  const auto strides = row_major_strides(x.shape());
  const auto starts = clamped_starts(e.operands.subspan(2), x.shape(), update.shape().dims());
  const int64_t base = dot(starts, strides);
  const size_t width = size_of(x.dtype());
  AnyArray& out = e.add_result();
  auto* to = static_cast<char*>(out.mutable_data());
  if (x.bytes() != 0) std::memcpy(to, x.data(), x.bytes());
  IndexWalk walk(update.shape().dims());
  for (int64_t i = 0, n = update.size(); i < n; ++i, walk.next()) {
    std::memcpy(to + static_cast<size_t>(base + walk.dot(strides)) * width,
                bytes_of(update) + static_cast<size_t>(i) * width, width);
  }
}

Scalar DynamicUpdateSlice::lower(Lowering& l, const Equation& e, size_t, std::span<const Scalar> index) {
  const Shape& x = l.graph().shape(e.operand(0));
  const Shape& update = l.graph().shape(e.operand(1));
  if (update.num_elements() == 0) return l.operand(0, index);
  Predicate inside(l);
  Indices in;
  for (size_t d = 0; d < index.size(); ++d) {
    if (x[d] == update[d]) {
      in.push_back(index[d]);
      continue;
    }
    const Scalar start = clamped_start(l, 2, d, x[d], update[d]);
    inside.at_least(index[d], start);
    inside.less(index[d], l.add(start, l.index(update[d])));
    in.push_back(l.sub(index[d], start));
  }
  return inside.guard([&] { return l.operand(1, in); }, l.operand(0, index));
}

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

}  // namespace calque::primitives
