#include "primitives/indexing/gather.h"

#include <cstring>
#include <limits>

#include <fmt/format.h>

#include "primitives/core/batched_axes.h"
#include "primitives/core/emit.h"
#include "primitives/core/index_walk.h"
#include "primitives/core/lowering_helpers.h"
#include "primitives/elementwise/numbers.h"
#include "primitives/indexing/windows.h"

namespace calque::primitives {
namespace {

using List = std::vector<int64_t>;

/// The attributes of the scatter that writes windows back to where a gather read them.
Attributes scatter_of(const Attributes& gather) {
  return {{"indices_batching_dims", gather.ints("indices_batching_dims")},
          {"inserted_window_dims", gather.ints("collapsed_slice_dims")},
          {"operand_batching_dims", gather.ints("operand_batching_dims")},
          {"scatter_dims_to_operand_dims", gather.ints("start_index_map")},
          {"update_window_dims", gather.ints("offset_dims")}};
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

void Gather::infer(Typing& t) {
  const Type& x = t.operand(0);
  const Type& indices = t.operand(1);
  const List& collapsed = t.ints("collapsed_slice_dims");
  const List& batching = t.ints("operand_batching_dims");
  const List& sizes = t.ints("slice_sizes");
  const List& offset_dims = t.ints("offset_dims");
  const std::string& mode = t.attributes().get<std::string>("mode");
  check_indices(t, "start_index_map", t.ints("start_index_map"), "collapsed_slice_dims", collapsed);
  if (mode != "fill" && mode != "zero" && mode != "clip") {
    t.rule_error(fmt::format("expects mode fill, zero or clip, got {}", mode));
  }
  t.check_length("slice_sizes", sizes, x.shape.size());
  List window;
  for (size_t d = 0; d < sizes.size(); ++d) {
    const auto axis = static_cast<int64_t>(d);
    // A batching dimension has the same extent in the indices: if it is 0, there is no window that must fit.
    const int64_t fits = has_axis(batching, axis) ? 1 : x.shape[d];
    if (sizes[d] < 0 || sizes[d] > fits) {
      t.shape_error(fmt::format("slice_sizes {} do not fit into {}", to_text(sizes), to_string(x)));
    }
    if (has_axis(collapsed, axis) || has_axis(batching, axis)) {
      if (sizes[d] != 1) {
        t.shape_error(
            fmt::format("expects slice size 1 in the collapsed or batching dimension {}, got {}", d, to_text(sizes)));
      }
    } else {
      window.push_back(sizes[d]);
    }
  }
  t.check_length("offset_dims", offset_dims, window.size());
  const size_t rank = window.size() + indices.shape.size() - 1;
  t.check_axes("offset_dims", offset_dims, static_cast<int>(rank), /*sorted=*/true);
  List shape;
  size_t next_window = 0;
  size_t next_batch = 0;
  for (size_t d = 0; d < rank; ++d) {
    shape.push_back(has_axis(offset_dims, static_cast<int64_t>(d)) ? window[next_window++]
                                                                   : indices.shape[next_batch++]);
  }
  t.result(x.dtype, shape);
}

Literal gather_fill(const Attributes& attributes, DType dtype) {
  return attributes.get<std::string>("mode") == "zero" ? make_literal(dtype, int64_t{0}) : gather_fill(dtype);
}

Literal gather_fill(DType dtype) {
  return visit_dtype(dtype, []<class T>() {
    constexpr auto kNaN = std::numeric_limits<float>::quiet_NaN();
    if constexpr (std::is_same_v<T, bool>) {
      return Literal::of(true);
    } else if constexpr (std::is_signed_v<T> && std::is_integral_v<T>) {
      return Literal::of(std::numeric_limits<T>::min());
    } else if constexpr (std::is_integral_v<T>) {
      return Literal::of(std::numeric_limits<T>::max());
    } else if constexpr (scalar::is_complex_v<T>) {
      return Literal::of(T(kNaN, kNaN));
    } else {
      return Literal::of(static_cast<T>(kNaN));
    }
  });
}

void Gather::evaluate(Evaluation& e) {
  const AnyArray& x = e.operands[0];
  const Attributes& a = e.attributes;
  const auto& batching = a.ints("operand_batching_dims");
  const Windows windows(x.shape(), e.operands[1], a.ints("start_index_map"), batching, a.ints("indices_batching_dims"),
                        a.ints("slice_sizes"), a.get<std::string>("mode") == "clip");
  AnyArray& out = e.add_result();
  const WindowStrides strides(out.shape(), a.ints("offset_dims"), x.shape(), a.ints("collapsed_slice_dims"), batching);
  const Literal fill = gather_fill(a, x.dtype());
  const size_t width = size_of(x.dtype());
  auto* to = static_cast<char*>(out.mutable_data());
  IndexWalk walk(out.shape().dims());
  for (int64_t i = 0, n = out.size(); i < n; ++i, walk.next(), to += width) {
    const int64_t offset = windows.offsets[static_cast<size_t>(walk.dot(strides.in_batch))];
    const void* from = fill.bytes;
    if (offset >= 0) from = bytes_of(x) + static_cast<size_t>(offset + walk.dot(strides.in_window)) * width;
    std::memcpy(to, from, width);
  }
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
    Scalar start = l.operand(1, vector);
    if (fill) {
      start = as_index(l, start);
      inside.at_least(start, 0);
      inside.at_most(start, room);
    } else {
      start = clamped_index(l, start, room);
    }
    in[d] = l.add(in[d], start);
  }
  const DType dtype = l.graph().dtype(e.operand(0));
  if (!fill) return l.operand(0, in);
  return inside.guard([&] { return l.operand(0, in); }, l.constant(dtype, gather_fill(a, dtype)));
}

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

}  // namespace calque::primitives
