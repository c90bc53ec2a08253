// Index maps of dynamic slices and gather. Starts are clamped or checked before any load through them.
#include <algorithm>

#include "primitives/core/lowering_helpers.h"
#include "primitives/indexing/indexing.h"

namespace calque::primitives {
namespace {

/// An integer of any dtype as i64; u64 beyond i64 saturates, so that it stays out of range.
Scalar as_index(Lowering& l, Scalar s) {
  const DType dtype = l.dtype(s);
  if (dtype == DType::i64) return s;
  if (dtype == DType::u64) {
    s = l.op(id_of<Min>, DType::u64, {s, l.constant(DType::u64, Literal::of<uint64_t>(INT64_MAX))});
  }
  return l.op(id_of<Convert>, DType::i64, {s});
}

Scalar clamp(Lowering& l, Scalar s, int64_t high) {
  return l.op(id_of<Clamp>, DType::i64, {l.index(0), s, l.index(high)});
}

/// The clamped start in dimension d, whose scalar is operand `first + d`.
Scalar clamped_start(Lowering& l, size_t first, size_t d, int64_t extent, int64_t size) {
  if (extent == size) return l.index(0);
  return clamp(l, as_index(l, l.operand(first + d, {})), extent - size);
}

}  // namespace

Scalar DynamicSlice::lower(Lowering& l, const Equation& e, size_t, std::span<const Scalar> index) {
  const Shape& x = l.graph().shape(e.operand(0));
  const auto& sizes = e.attributes().ints("sizes");
  Indices in;
  for (size_t d = 0; d < index.size(); ++d) {
    in.push_back(l.add(clamped_start(l, 1, d, x[d], sizes[d]), index[d]));
  }
  return l.operand(0, in);
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

Scalar Gather::lower(Lowering& l, const Equation& e, size_t, std::span<const Scalar> index) {
  const Attributes& a = e.attributes();
  const Shape& x = l.graph().shape(e.operand(0));
  const auto& offset_dims = a.ints("offset_dims");
  const auto& collapsed = a.ints("collapsed_slice_dims");
  const auto& map = a.ints("start_index_map");
  const auto& operand_batching = a.ints("operand_batching_dims");
  const auto& indices_batching = a.ints("indices_batching_dims");
  const auto& sizes = a.ints("slice_sizes");
  const bool fill = a.get<std::string>("mode") != "clip";

  Indices batch;
  Indices window;
  for (size_t d = 0; d < index.size(); ++d) {
    (has_axis(offset_dims, static_cast<int64_t>(d)) ? window : batch).push_back(index[d]);
  }
  Predicate inside(l);
  Indices in(x.size(), l.index(0));
  for (size_t d = 0, w = 0; d < x.size(); ++d) {
    const auto axis = static_cast<int64_t>(d);
    if (!has_axis(collapsed, axis) && !has_axis(operand_batching, axis)) in[d] = window[w++];
  }
  for (size_t k = 0; k < operand_batching.size(); ++k) {
    in[static_cast<size_t>(operand_batching[k])] = batch[static_cast<size_t>(indices_batching[k])];
  }
  for (size_t k = 0; k < map.size(); ++k) {
    const auto d = static_cast<size_t>(map[k]);
    const int64_t room = x[d] - sizes[d];
    Indices vector = batch;
    vector.push_back(l.index(static_cast<int64_t>(k)));
    Scalar start = as_index(l, l.operand(1, vector));
    if (fill) {
      inside.at_least(start, 0);
      inside.at_most(start, room);
    } else {
      start = clamp(l, start, room);
    }
    in[d] = l.add(in[d], start);
  }
  const DType dtype = l.graph().dtype(e.operand(0));
  if (!fill) return l.operand(0, in);
  return inside.guard([&] { return l.operand(0, in); }, l.constant(dtype, gather_fill(a, dtype)));
}

}  // namespace calque::primitives
