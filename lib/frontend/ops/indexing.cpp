// Indexing in two steps: the static window (slice, reverse, reshape), then, if there are index arrays, one gather on
// that window. Updates of few elements, and those by index arrays, are one scatter on the array itself; others apply
// the same steps in reverse.
#include "calque/detail/indexing.h"

#include "calque/detail/run.h"

#include "frontend/ops/selection.h"

namespace calque::detail {
namespace {

using ops::Ints;
using ops::Site;
namespace prim = calque::primitives;

Handle reverse(Handle x, const Ints& axes, const Site& site) {
  return axes.empty() ? x : ops::emit<prim::Reverse>(site, {x}, {{"axes", axes}});
}

/// The selected window with the kept dimensions.
Handle load(Handle x, const Selection& s, const Site& site) {
  if (!s.whole() || s.window_shape != type_of(x, site.at).shape) {
    Ints start, limit, stride;
    for (const Selection::Window& w : s.windows) {
      start.push_back(w.start);
      limit.push_back(w.count == 0 ? w.start : w.start + (w.count - 1) * w.stride + 1);
      stride.push_back(w.stride);
    }
    x = reverse(ops::slice(x, start, limit, stride, site), s.reversed_axes, site);
  }
  return ops::reshape(x, s.kept, site);
}

/// x with the window replaced by `value`, which has the kept dimensions.
Handle store(Handle x, const Selection& s, Handle value, const Site& site) {
  if (s.empty()) return x;
  const Type type = type_of(x, site.at);
  const Handle window = reverse(ops::reshape(value, s.window_shape, site), s.reversed_axes, site);
  if (s.window_shape == type.shape) return window;
  if (s.contiguous()) {
    std::vector<Handle> operands{x, window};
    for (const Selection::Window& w : s.windows) {
      operands.push_back(literal(make_literal(DType::i64, w.start), {DType::i64, {}}, site.at));
    }
    return emit(prim::get<prim::DynamicUpdateSlice>(), operands, {}, site.at);
  }
  Ints low, high, interior;
  for (size_t axis = 0; axis < s.windows.size(); ++axis) {
    const Selection::Window& w = s.windows[axis];
    low.push_back(w.start);
    interior.push_back(w.stride - 1);
    high.push_back(type.shape[axis] - (w.start + (w.count - 1) * w.stride + 1));
  }
  const Attributes padding{{"high", high}, {"interior", interior}, {"low", low}};
  const Handle zero = literal(make_literal(type.dtype, int64_t{0}), {type.dtype, {}}, site.at);
  const Handle yes = literal(Literal::of<bool>(true), {DType::bool_, s.window_shape}, site.at);
  const Handle no = literal(Literal::of<bool>(false), {DType::bool_, {}}, site.at);
  const Handle replaced = ops::emit<prim::Pad>(site, {yes, no}, padding);
  return ops::select(replaced, ops::emit<prim::Pad>(site, {window, zero}, padding), x, site);
}

/// Index arrays as index vectors along a last dimension.
struct IndexVectors {
  Handle vectors;
  Shape shape;  ///< without the last dimension
};

/// One index array of dtype `wide`, negative indices wrapped once.
Handle wrapped(const Operand& operand, int64_t extent, DType wide, const Site& site) {
  Handle i = ops::value(operand, site);
  const Type own = type_of(i, site.at);
  if (own.dtype == DType::u64) {
    // Values beyond i64 are clamped to its maximum, which is out of bounds too.
    const Handle most = literal(make_literal(DType::u64, INT64_MAX), own, site.at);
    i = ops::emit<prim::Min>(site, {i, most});
  }
  i = ops::convert(i, wide, site);
  if (is_unsigned_integer(own.dtype)) return i;
  const Type type{wide, own.shape};
  const Handle negative = ops::emit<prim::Lt>(site, {i, literal(make_literal(wide, int64_t{0}), type, site.at)});
  const Handle shifted = ops::emit<prim::Add>(site, {i, literal(make_literal(wide, extent), type, site.at)});
  return ops::select(negative, shifted, i, site);
}

IndexVectors index_vectors(const Selection& s, std::span<const IndexItem> items, const Site& site) {
  DType wide = DType::i32;
  for (size_t k = 0; k < s.arrays.size(); ++k) {
    const DType d = ops::operand_dtype(items[s.arrays[k]].operand(), site);
    if (!is_integer(d)) site.dtype_error("indices must be integers, got " + std::string(name(d)));
    const int64_t extent = s.kept[static_cast<size_t>(s.array_dims[k])];
    if (size_of(d) == 8 || d == DType::u32 || extent > INT32_MAX) wide = DType::i64;
  }
  std::vector<Handle> each;
  for (size_t k = 0; k < s.arrays.size(); ++k) {
    each.push_back(wrapped(items[s.arrays[k]].operand(), s.kept[static_cast<size_t>(s.array_dims[k])], wide, site));
  }
  ops::broadcast_together(each, site);
  const Shape shape = type_of(each[0], site.at).shape;
  const Shape with_last = shape.with_inserted(shape.size(), 1);
  for (Handle& i : each) i = ops::reshape(i, with_last, site);
  if (each.size() == 1) return {each[0], shape};
  return {emit(prim::get<prim::Concatenate>(), each, {{"axis", int64_t{shape.rank()}}}, site.at), shape};
}

/// The shape of x[items], and which of its dimensions belong to the window.
struct Gathered {
  Shape shape;
  Ints window_dims;
};
Gathered gathered(const Selection& s, const Shape& index_shape) {
  std::vector<int64_t> dims;
  Gathered g;
  const auto insert_index_dims = [&] { dims.insert(dims.end(), index_shape.begin(), index_shape.end()); };
  int64_t plain = 0;
  for (size_t i = 0; i < s.kept.size(); ++i) {
    if (std::ranges::find(s.array_dims, static_cast<int64_t>(i)) != s.array_dims.end()) continue;
    if (plain++ == s.index_position) insert_index_dims();
    g.window_dims.push_back(static_cast<int64_t>(dims.size()));
    dims.push_back(s.kept[i]);
  }
  if (plain <= s.index_position) insert_index_dims();
  g.shape = Shape(dims);
  return g;
}

/// True if a dimension addressed by an index array has no elements, so that every index is out of bounds.
bool nothing_to_address(const Selection& s) {
  return std::ranges::any_of(s.array_dims, [&](int64_t axis) { return s.kept[static_cast<size_t>(axis)] == 0; });
}

Handle gather(Handle window, const Selection& s, const IndexVectors& indices, const Site& site) {
  Ints sizes(s.kept.begin(), s.kept.end());
  for (const int64_t axis : s.array_dims) sizes[static_cast<size_t>(axis)] = 1;
  return ops::emit<prim::Gather>(site, {window, indices.vectors},
                                 {{"collapsed_slice_dims", s.array_dims},
                                  {"indices_batching_dims", Ints{}},
                                  {"mode", std::string("fill")},
                                  {"offset_dims", gathered(s, indices.shape).window_dims},
                                  {"operand_batching_dims", Ints{}},
                                  {"slice_sizes", sizes},
                                  {"start_index_map", s.array_dims}});
}

enum class UpdateKind { set, add, mul, min, max };

constexpr std::string_view name_of(UpdateKind update) {
  constexpr std::string_view kNames[] = {"set", "add", "mul", "min", "max"};
  return kNames[static_cast<size_t>(update)];
}

/// The update of whole elements: not `set`.
Handle combined(Handle x, Handle value, UpdateKind update, const Site& site) {
  switch (update) {
    case UpdateKind::mul:
      return ops::multiply(x, value, site.at);
    case UpdateKind::min:
      return ops::minimum(x, value, site.at);
    case UpdateKind::max:
      return ops::maximum(x, value, site.at);
    default:
      return ops::add(x, value, site.at);
  }
}

/// The dimensions of a scatter: see primitives/indexing/scatter.h.
struct ScatterDims {
  Ints inserted, map, window;
};

Handle scatter(Handle x, Handle vectors, Handle updates, ScatterDims dims, UpdateKind update, const Site& site) {
  const Attributes attributes{{"indices_batching_dims", Ints{}},
                              {"inserted_window_dims", std::move(dims.inserted)},
                              {"operand_batching_dims", Ints{}},
                              {"scatter_dims_to_operand_dims", std::move(dims.map)},
                              {"update_window_dims", std::move(dims.window)}};
  const std::initializer_list<Handle> operands = {x, vectors, updates};
  if (update == UpdateKind::set) return ops::emit<prim::Scatter>(site, operands, attributes);
  if (update == UpdateKind::mul) return ops::emit<prim::ScatterMul>(site, operands, attributes);
  if (update == UpdateKind::min) return ops::emit<prim::ScatterMin>(site, operands, attributes);
  if (update == UpdateKind::max) return ops::emit<prim::ScatterMax>(site, operands, attributes);
  // Addition of bools is a logical or.
  if (type_of(x, site.at).dtype == DType::bool_) return ops::emit<prim::ScatterMax>(site, operands, attributes);
  return ops::emit<prim::ScatterAdd>(site, operands, attributes);
}

Handle scatter(Handle window, const Selection& s, const IndexVectors& indices, Handle updates, UpdateKind update,
               const Site& site) {
  return scatter(window, indices.vectors, updates, {s.array_dims, s.array_dims, gathered(s, indices.shape).window_dims},
                 update, site);
}

/// The scatter that writes the selected elements of x itself and no others. Index vectors have a component for each
/// axis that index arrays, numbers or ranges of part of it address; the elements of a strided range have separate
/// vectors.
class ElementScatter {
 public:
  /// `indices` are null if there are no index arrays.
  ElementScatter(Handle x, const Selection& s, const IndexVectors* indices, const Site& site)
      : x_(x), shape_(type_of(x, site.at).shape), s_(s), indices_(indices), site_(site) {
    for (const int64_t kept : s_.array_dims) dims_.map.push_back(s_.kept_axes[static_cast<size_t>(kept)]);
    sort_dimensions();
  }

  Handle emit(Handle updates, UpdateKind update) {
    const Shape with_last = Shape(batch_).with_inserted(batch_.size(), 1);
    DType dtype = indices_ != nullptr ? type_of(indices_->vectors, site_.at).dtype : DType::i32;
    if (std::ranges::any_of(shape_, [](int64_t extent) { return extent > INT32_MAX; })) dtype = DType::i64;
    std::vector<Handle> parts;
    if (indices_ != nullptr) {
      std::vector<int64_t> to(batch_);
      to.push_back(static_cast<int64_t>(s_.array_dims.size()));
      Ints axes = index_dims_;
      axes.push_back(static_cast<int64_t>(batch_.size()));
      parts.push_back(ops::broadcast_in(ops::convert(indices_->vectors, dtype, site_), Shape(to), axes, site_));
    }
    for (int64_t axis = 0; axis < shape_.rank(); ++axis) {
      const Selection::Window& w = s_.windows[static_cast<size_t>(axis)];
      if (is_by_array(axis) || (is_kept(axis) && w.count == shape_[static_cast<size_t>(axis)])) continue;
      dims_.map.push_back(axis);
      const Handle start = literal(make_literal(dtype, w.start), {dtype, with_last}, site_.at);
      parts.push_back(is_strided(axis) ? strided(axis, start, {dtype, with_last}) : start);
    }
    updates = reverse(ops::reshape(updates, extents_, site_), reversed_, site_);
    return scatter(x_, ops::concatenated(parts, static_cast<int>(batch_.size()), site_), updates, std::move(dims_),
                   update, site_);
  }

 private:
  bool is_by_array(int64_t axis) const {
    return std::ranges::any_of(s_.array_dims,
                               [&](int64_t kept) { return s_.kept_axes[static_cast<size_t>(kept)] == axis; });
  }
  bool is_kept(int64_t axis) const { return std::ranges::find(s_.kept_axes, axis) != s_.kept_axes.end(); }
  bool is_strided(int64_t axis) const {
    const Selection::Window& w = s_.windows[static_cast<size_t>(axis)];
    return w.stride != 1 && w.count > 1 && is_kept(axis) && !is_by_array(axis);
  }

  /// The dimensions of the updates, those of newaxis left out: which run over windows, which over index vectors.
  void sort_dimensions() {
    for (int64_t axis = 0; axis < shape_.rank(); ++axis)
      if (is_by_array(axis) || !is_kept(axis) || is_strided(axis)) dims_.inserted.push_back(axis);
    std::vector<int64_t> extents;
    int64_t plain = 0;
    const auto add_index_dims = [&] {
      if (indices_ == nullptr) return;
      for (const int64_t extent : indices_->shape) {
        index_dims_.push_back(static_cast<int64_t>(batch_.size()));
        batch_.push_back(extent);
        extents.push_back(extent);
      }
    };
    for (size_t i = 0; i < s_.kept.size(); ++i) {
      if (std::ranges::find(s_.array_dims, static_cast<int64_t>(i)) != s_.array_dims.end()) continue;
      if (plain++ == s_.index_position) add_index_dims();
      const int64_t axis = s_.kept_axes[i];
      if (axis < 0) continue;
      const auto at = static_cast<int64_t>(extents.size());
      extents.push_back(s_.kept[i]);
      if (s_.windows[static_cast<size_t>(axis)].reversed) reversed_.push_back(at);
      if (is_strided(axis)) {
        batch_of_axis_.emplace_back(axis, static_cast<int64_t>(batch_.size()));
        batch_.push_back(s_.kept[i]);
      } else {
        dims_.window.push_back(at);
      }
    }
    if (plain <= s_.index_position) add_index_dims();
    extents_ = Shape(extents);
  }

  /// start + stride * k for element k of a strided range.
  Handle strided(int64_t axis, Handle start, const Type& type) const {
    const auto of_axis = std::ranges::find(batch_of_axis_, axis, &std::pair<int64_t, int64_t>::first);
    const Handle k = ops::counted(type.dtype, type.shape, static_cast<int>(of_axis->second), site_);
    const int64_t stride = s_.windows[static_cast<size_t>(axis)].stride;
    const Handle step = literal(make_literal(type.dtype, stride), type, site_.at);
    return ops::emit<prim::Add>(site_, {ops::emit<prim::Mul>(site_, {k, step}), start});
  }

  Handle x_;
  Shape shape_;
  const Selection& s_;
  const IndexVectors* indices_;
  const Site& site_;
  ScatterDims dims_;
  Shape extents_;                                           // of the updates
  Ints reversed_;                                           // dimensions of the updates
  std::vector<int64_t> batch_;                              // extents of the index vectors' dimensions
  Ints index_dims_;                                         // those of the index arrays
  std::vector<std::pair<int64_t, int64_t>> batch_of_axis_;  // those of strided axes
};

/// Whether a scatter writes the elements of a strided window faster than a pass over x selects them.
bool is_sparse(const Selection& s, const Type& type) {
  constexpr int64_t kElementsPerWrite = 4;
  return s.window_shape.num_elements() <= type.shape.num_elements() / kElementsPerWrite;
}

Handle updated(const Operand& operand, std::span<const IndexItem> items, const Operand& value, UpdateKind update,
               Location location) {
  const Site site{name_of(update), location};
  const Handle x = ops::value(operand, site);
  const Type type = type_of(x, location);
  if (update == UpdateKind::mul && is_bool(type.dtype)) ops::reject(type, "numbers", site);
  if (update >= UpdateKind::min && is_complex(type.dtype)) ops::reject(type, "ordered numbers", site);
  const Selection s = select_items(type, items, site);
  const Handle fitting = ops::value_fitting(value, type.dtype, site);
  if (s.arrays.empty()) {
    Handle window = ops::broadcast(fitting, s.kept, site);
    const bool as_scatter = !s.contiguous() && is_sparse(s, type);
    if (update != UpdateKind::set) window = combined(load(x, s, site), window, update, site);
    if (as_scatter && !s.empty()) return ElementScatter(x, s, nullptr, site).emit(window, UpdateKind::set);
    return store(x, s, window, site);
  }
  const IndexVectors indices = index_vectors(s, items, site);
  const Handle updates = ops::broadcast(fitting, gathered(s, indices.shape).shape, site);
  if (nothing_to_address(s) || s.empty()) return x;
  if (!s.whole() || s.window_shape != type.shape) return ElementScatter(x, s, &indices, site).emit(updates, update);
  return store(x, s, scatter(load(x, s, site), s, indices, updates, update, site), site);
}

using Record = std::function<Handle(const Operand& x, std::span<const IndexItem> items, const Operand* value)>;

/// Runs `record` as a compiled graph whose inputs replace x, the index arrays and the value.
AnyArray run(std::string_view name, const AnyArray& x, std::span<const IndexItem> items, const Operand* value,
             const Record& record) {
  std::vector<const AnyArray*> arrays{&x};
  for (const IndexItem& item : items) {
    if (item.kind == IndexItem::Kind::array && !item.array.empty()) arrays.push_back(&item.array);
  }
  const bool value_is_array = value != nullptr && value->kind() == Operand::Kind::array;
  if (value_is_array) arrays.push_back(&value->array());
  const auto body = [&](std::span<const Handle> inputs, std::vector<Handle>& outputs) {
    size_t next = 1;
    std::vector<IndexItem> traced(items.begin(), items.end());
    for (IndexItem& item : traced) {
      if (item.kind == IndexItem::Kind::array && !item.array.empty()) {
        item.array = {};
        item.handle = inputs[next++];
      }
    }
    const Operand lifted = value_is_array ? Operand(inputs[next]) : value != nullptr ? *value : Operand(inputs[0]);
    outputs.push_back(record(inputs[0], traced, &lifted));
  };
  return std::move(run_arrays(name, arrays, body).front());
}

}  // namespace

Handle index_at(const Operand& operand, std::span<const IndexItem> items, Location location) {
  const Site site{"at", location};
  const Handle x = ops::value(operand, site);
  const Selection s = select_items(type_of(x, location), items, site);
  if (s.arrays.empty()) return load(x, s, site);
  const IndexVectors indices = index_vectors(s, items, site);
  if (nothing_to_address(s)) {
    const DType dtype = type_of(x, location).dtype;
    return literal(prim::gather_fill(dtype), {dtype, gathered(s, indices.shape).shape}, location);
  }
  return gather(load(x, s, site), s, indices, site);
}

Handle element_at(const Operand& operand, std::span<const IndexItem> items, Location location) {
  const Site site{"x(...)", location};
  const Handle x = ops::value(operand, site);
  const Type& t = type_of(x, location);
  const auto is_scalar = [&](const IndexItem& item) {
    return item.kind == IndexItem::Kind::integer ||
           (item.kind == IndexItem::Kind::array && ops::type(ops::value(item.operand(), site)).shape.rank() == 0);
  };
  if (items.size() != t.shape.size() || !std::all_of(items.begin(), items.end(), is_scalar)) {
    site.shape_error("an element of " + to_string(t) + " has " + std::to_string(t.shape.rank()) +
                     (t.shape.rank() == 1 ? " index, an integer" : " indices, integers") +
                     "; write x[i] for a row, x.at(i, cq::all) for other parts");
  }
  return index_at(x, items, location);
}

Handle index_set(const Operand& x, std::span<const IndexItem> items, const Operand& value, Location location) {
  return updated(x, items, value, UpdateKind::set, location);
}

Handle index_add(const Operand& x, std::span<const IndexItem> items, const Operand& value, Location location) {
  return updated(x, items, value, UpdateKind::add, location);
}

Handle index_mul(const Operand& x, std::span<const IndexItem> items, const Operand& value, Location location) {
  return updated(x, items, value, UpdateKind::mul, location);
}
Handle index_min(const Operand& x, std::span<const IndexItem> items, const Operand& value, Location location) {
  return updated(x, items, value, UpdateKind::min, location);
}
Handle index_max(const Operand& x, std::span<const IndexItem> items, const Operand& value, Location location) {
  return updated(x, items, value, UpdateKind::max, location);
}

AnyArray run_index_at(const AnyArray& x, std::span<const IndexItem> items, Location location) {
  return run("at", x, items, nullptr, [&](const Operand& array, std::span<const IndexItem> traced, const Operand*) {
    return index_at(array, traced, location);
  });
}

AnyArray run_index_set(const AnyArray& x, std::span<const IndexItem> items, const Operand& value, Location location) {
  return run("set", x, items, &value, [&](const Operand& array, std::span<const IndexItem> traced, const Operand* v) {
    return index_set(array, traced, *v, location);
  });
}

AnyArray run_index_add(const AnyArray& x, std::span<const IndexItem> items, const Operand& value, Location location) {
  return run("add", x, items, &value, [&](const Operand& array, std::span<const IndexItem> traced, const Operand* v) {
    return index_add(array, traced, *v, location);
  });
}

AnyArray run_index_mul(const AnyArray& x, std::span<const IndexItem> items, const Operand& value, Location location) {
  return run("mul", x, items, &value, [&](const Operand& array, std::span<const IndexItem> traced, const Operand* v) {
    return index_mul(array, traced, *v, location);
  });
}

AnyArray run_index_min(const AnyArray& x, std::span<const IndexItem> items, const Operand& value, Location location) {
  return run("min", x, items, &value, [&](const Operand& array, std::span<const IndexItem> traced, const Operand* v) {
    return index_min(array, traced, *v, location);
  });
}

AnyArray run_index_max(const AnyArray& x, std::span<const IndexItem> items, const Operand& value, Location location) {
  return run("max", x, items, &value, [&](const Operand& array, std::span<const IndexItem> traced, const Operand* v) {
    return index_max(array, traced, *v, location);
  });
}

}  // namespace calque::detail
