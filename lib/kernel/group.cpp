#include "kernel/group.h"

#include <algorithm>
#include <array>
#include <unordered_set>

#include "kernel/contraction.h"
#include "kernel/fuse_loops.h"
#include "kernel/schedule.h"
#include "kernel/split_loops.h"
#include "kernel/unroll_loops.h"
#include "plan/equations.h"
#include "primitives/registry.h"

namespace calque::kernel {

using namespace primitives;
using plan::Role;
using plan::role_of;

bool is_dense(const Shape& shape, const Shape::Dims& strides) {
  int64_t expected = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    if (shape[i] == 1) continue;
    if (strides[i] != expected) return false;
    expected *= shape[i];
  }
  return true;
}

namespace {

/// The values of the planned graph as its kernels see them: loads of what is in memory, computation of the rest.
class MemoryFrame final : public Frame {
 public:
  MemoryFrame(const Memory& memory, BoundKernel& out, std::span<const Value> roots)
      : Frame(memory.graph), memory_(memory), out_(out) {
    for (Value v : roots) roots_.push_back(v);
  }

  std::optional<Id> element(Elements& elements, Value v, const Index& index) override {
    if (v == given_) return given_element_;
    const Binding& b = binding(v);
    if (!b.valid) return std::nullopt;
    return elements.load(bind(b), b.type.shape, index);
  }
  bool reads_flat(Value v) const override {
    const Binding& b = memory_.bindings[v.id()];
    return v == given_ || graph().kind(v) == ValueKind::constant || (b.valid && is_dense(b.type.shape, b.strides));
  }
  bool computes(Value v) const override {
    if (graph().kind(v) != ValueKind::result || v == given_) return false;
    return !memory_.plan.in_memory[v.id()] || std::find(roots_.begin(), roots_.end(), v) != roots_.end();
  }
  Operand constant(const AnyArray& array) override { return bind(memory_.constant(array)); }
  std::optional<Operand> memory(Value v) override {
    if (computes(v)) return std::nullopt;
    const Binding b = binding(v);
    return b.valid ? std::optional(bind(b)) : std::nullopt;
  }
  /// From now on the element of `v` is `element`, wherever it is asked for.
  void give(Value v, Id element) {
    given_ = v;
    given_element_ = element;
  }

  Operand bind(const Binding& b) {
    Operand o;
    o.strides = b.strides;
    o.dense = is_dense(b.type.shape, b.strides);
    for (size_t i = 0; i < out_.views.size(); ++i) {
      if (out_.views[i] == b.view && out_.kernel.buffers[i].dtype == b.type.dtype) {
        o.buffer = static_cast<int32_t>(i);
        return o;
      }
    }
    Buffer buffer;
    buffer.dtype = b.type.dtype;
    buffer.alignment = b.alignment;
    buffer.extent = b.type.shape.num_elements() == 0 ? 0 : 1;
    for (size_t i = 0; i < b.strides.size() && buffer.extent != 0; ++i)
      buffer.extent += (b.type.shape[i] - 1) * b.strides[i];
    out_.kernel.buffers.push_back(buffer);
    out_.views.push_back(b.view);
    o.buffer = static_cast<int32_t>(out_.kernel.buffers.size()) - 1;
    return o;
  }

 private:
  Binding binding(Value v) const {
    if (graph().kind(v) == ValueKind::constant) return memory_.constant(graph().constant(v));
    return memory_.bindings[v.id()];
  }
  const Memory& memory_;
  BoundKernel& out_;
  std::vector<Value> roots_;
  Value given_;
  Id given_element_ = kNone;
};

/// A value and where its elements go.
struct Item {
  Value value;
  Operand to;
};

class GroupBuilder {
 public:
  GroupBuilder(const Memory& memory, BoundKernel& out, std::span<const Value> roots)
      : memory_(memory), emitter_(out.kernel), elements_(emitter_), frame_(memory, out, roots) {}

  Operand destination(Value v) { return frame_.bind(memory_.bindings[v.id()]); }
  MemoryFrame& frame() { return frame_; }

  /// From here on, loops of maps and reductions are built so that they can become one.
  void share_loops(const plan::Group& group) {
    loops_ = group.loops;
    reduced_ = group.reduced;
    flat_ = loops_.size() == reduced_.size();
    const Graph& g = memory_.graph;
    std::vector<Value> stack(group.roots.begin(), group.roots.end());
    std::unordered_set<uint32_t> seen;
    while (!stack.empty() && flat_) {
      const Value v = stack.back();
      stack.pop_back();
      if (g.kind(v) != ValueKind::result || !frame_.computes(v) || !seen.insert(v.id()).second) continue;
      const Equation& e = *g.definition(v);
      if (plan::without_units(g.shape(v)) == loops_) {
        const bool root = std::find(group.roots.begin(), group.roots.end(), v) != group.roots.end();
        flat_ = elements_.flat(frame_, v) && (!root || destination(v).dense);
      } else {
        stack.insert(stack.end(), e.operands().begin(), e.operands().end());
      }
    }
    elements_.set_flat(flat_);
  }

  /// One loop nest a shape, with everything of that shape inside.
  void map(std::vector<Item> items) {
    std::vector<Item> parts, updates;
    for (const Item& i : items) memory_.is_updated(i.value) ? updates.push_back(i) : split(i, parts);
    // Parts of one shape, dimensions of extent 1 aside, share a nest.
    std::vector<std::pair<plan::Extents, std::vector<Item>>> nests;
    for (const Item& i : parts) {
      const plan::Extents loops = plan::without_units(shape_of(i));
      auto at = std::find_if(nests.begin(), nests.end(), [&](const auto& n) { return n.first == loops; });
      if (at == nests.end()) at = nests.insert(at, {loops, {}});
      at->second.push_back(i);
    }
    for (const auto& [loops, items] : nests) nest(items);
    for (const Item& i : updates) window(i);
  }

  /// A dynamic_update_slice into the place of its operand: the slice alone.
  void window(const Item& item) {
    const Graph& g = memory_.graph;
    const Equation& e = *g.definition(item.value);
    const Shape &whole = g.shape(item.value), &slice = g.shape(e.operand(1));
    Ids starts;
    for (size_t d = 0; d < whole.size(); ++d) {
      const Id zero = emitter_.index(0), last = emitter_.index(whole[d] - slice[d]);
      if (whole[d] == slice[d]) {
        starts.push_back(zero);
        continue;
      }
      const Id start = elements_.convert(elements_.element(frame_, e.operand(2 + d), Index::of_parts({})), DType::i64);
      starts.push_back(emitter_.scalar(id_of<Clamp>, DType::i64, {zero, start, last}));
    }
    over(slice, false, [&](const Index& index) {
      Ids parts;
      for (size_t d = 0; d < whole.size(); ++d) parts.push_back(emitter_.add(starts[d], index.parts[d]));
      put(item.to, whole, Index::of_parts(parts), elements_.element(frame_, e.operand(1), index));
    });
  }

  void cumulative(const Equation& e) {
    const Graph& g = memory_.graph;
    const Value x = e.operand(0);
    const Shape& shape = g.shape(x);
    const auto axis = static_cast<size_t>(e.attributes().integer("axis"));
    const bool reverse = e.attributes().get<bool>("reverse");
    const Operand to = destination(e.result());
    const DType dtype = g.dtype(x), acc = Elements::accumulator(dtype);
    PrimitiveId combine = id_of<Add>;
    Combiner start = Combiner::add;
    switch (e.id()) {
      case id_of<Cumprod>:
        combine = id_of<Mul>, start = Combiner::mul;
        break;
      case id_of<Cummax>:
        combine = id_of<Max>, start = Combiner::max;
        break;
      case id_of<Cummin>:
        combine = id_of<Min>, start = Combiner::min;
        break;
      default:
        break;
    }
    over(shape.without(axis), false, [&](const Index& outer) {
      Literal first = identity(start, acc);
      // -0 + x is x for every x, +0 + -0 is not.
      if (start == Combiner::add && is_floating(acc)) first = make_literal(acc, -0.0);
      const Id initial = emitter_.constant(acc, first);
      emitter_.loop(LoopKind::sequential, shape[axis], Ids{initial}, std::span(&start, 1), emitter_.depth(),
                    [&](Id counter, std::span<const Id> state) {
                      const Id at = reverse ? emitter_.sub(emitter_.index(shape[axis] - 1), counter) : counter;
                      Ids parts = outer.parts;
                      parts.insert(axis, at);
                      const Index index = Index::of_parts(parts);
                      const Id element = elements_.convert(elements_.element(frame_, x, index), acc);
                      const Id next = emitter_.scalar(combine, acc, {state[0], element});
                      put(to, shape, index, elements_.convert(next, dtype));
                      return Ids{next};
                    });
    });
  }

  /// A tiled product and what is computed of its elements: each root at the product's own position.
  void contraction(const Equation& e, std::span<const Value> roots) {
    const Graph& g = memory_.graph;
    const Shape& shape = g.shape(e.result());
    std::vector<Operand> to;
    for (Value v : roots) to.push_back(destination(v));
    build_contraction(elements_, frame_, e, [&](const Index& at, Id sum) {
      frame_.give(e.result(), elements_.convert(sum, g.dtype(e.result())));
      const bool reshaped = std::any_of(roots.begin(), roots.end(), [&](Value v) { return g.shape(v) != shape; });
      const Index flat = reshaped ? Index::of_flat(elements_.linear(row_major(shape), shape, at)) : at;
      for (size_t i = 0; i < roots.size(); ++i) {
        const Shape& own = g.shape(roots[i]);
        const Index index = own == shape ? at : elements_.with_parts(flat, own);
        elements_.prepare(frame_, roots.subspan(i, 1), index);
        put(to[i], own, index, elements_.element(frame_, roots[i], index));
      }
    });
  }

  void scan(const Equation& e, const Shape& space, std::span<const Value> roots) {
    const auto carry = static_cast<size_t>(e.attributes().integer("carry"));
    std::vector<Operand> to;
    for (Value v : roots) to.push_back(destination(v));
    over(space, false, [&](const Index& index) {
      const Index full = elements_.with_parts(index, space);
      const Ids last = elements_.scan(frame_, e, index, [&](Id step, std::span<const Id> ys) {
        for (size_t i = 0; i < ys.size(); ++i) {
          Ids parts{step};
          for (Id p : full.parts) parts.push_back(p);
          put(to[carry + i], memory_.graph.shape(roots[carry + i]), Index::of_parts(parts), ys[i]);
        }
      });
      for (size_t i = 0; i < last.size(); ++i) put(to[i], space, index, last[i]);
    });
  }

  void scatter(const Equation& e);

 private:
  /// A concatenation is written operand by operand, each into its part of the result.
  void split(const Item& item, std::vector<Item>& parts) {
    const Graph& g = memory_.graph;
    const std::optional<Item> whole = concatenation(item);
    if (!whole) return parts.push_back(item);
    const Equation& e = *g.definition(whole->value);
    const auto axis = static_cast<size_t>(e.attributes().integer("axis"));
    int64_t start = 0;
    for (Value o : e.operands()) {
      Item part{o, whole->to};
      part.to.first += start * whole->to.strides[axis];
      part.to.dense = is_dense(g.shape(o), whole->to.strides);
      start += g.shape(o)[axis];
      split(part, parts);
    }
  }

  /// The concatenation that a value is, or is a reshape of that its place allows to be written under its own shape.
  std::optional<Item> concatenation(Item item) const {
    const Graph& g = memory_.graph;
    while (g.kind(item.value) == ValueKind::result && frame_.computes(item.value)) {
      const Equation& e = *g.definition(item.value);
      if (e.id() == id_of<Concatenate>) return item;
      if (e.id() != id_of<Reshape>) break;
      const Shape &from = g.shape(e.operand(0)), &to = shape_of(item);
      if (item.to.dense) {
        item.to.strides = row_major_strides(from);
      } else if (plan::without_units(from) == plan::without_units(to)) {
        Shape::Dims strides;
        size_t next = 0;
        for (const int64_t extent : from) {
          while (extent != 1 && to[next] == 1) ++next;
          strides.push_back(extent == 1 ? 0 : item.to.strides[next++]);
        }
        item.to.strides = strides;
      } else {
        break;
      }
      item.value = e.operand(0);
    }
    return std::nullopt;
  }

  const Shape& shape_of(const Item& item) const { return memory_.graph.shape(item.value); }

  /// The same element under another shape, which differs in dimensions of extent 1 alone.
  Index renamed(const Index& index, const Shape& from, const Shape& to) {
    if (from == to || !index.has_parts) return index;
    Index out = index;
    out.parts.clear();
    size_t next = 0;
    for (const int64_t extent : to) {
      if (extent == 1) {
        out.parts.push_back(emitter_.index(0));
        continue;
      }
      while (from[next] == 1) ++next;
      out.parts.push_back(index.parts[next++]);
    }
    return out;
  }

  void nest(std::span<const Item> items) {
    bool flat = flat_;
    for (const Item& i : items) flat = flat && i.to.dense && elements_.flat(frame_, i.value);
    const Shape& space = shape_of(items[0]);
    over(space, flat, [&](const Index& index) {
      // Long chains first, those of one shape together.
      std::vector<Value> values;
      for (size_t i = 0; i < items.size(); ++i) {
        values.push_back(items[i].value);
        if (i + 1 < items.size() && shape_of(items[i + 1]) == shape_of(items[i])) continue;
        elements_.prepare(frame_, values, renamed(index, space, shape_of(items[i])));
        values.clear();
      }
      for (const Item& i : items) {
        const Index at = renamed(index, space, shape_of(i));
        put(i.to, shape_of(i), at, elements_.element(frame_, i.value, at));
      }
    });
  }

  static Operand row_major(const Shape& shape) {
    Operand o;
    o.strides = row_major_strides(shape);
    return o;
  }

  void put(const Operand& to, const Shape& shape, const Index& index, Id value) {
    emitter_.store(to.buffer, elements_.linear(to, shape, index), value);
  }

  /// The dimensions of a space from the outermost loop to the innermost.
  std::vector<size_t> loop_order(const Shape& space) const {
    std::vector<size_t> order, inner;
    const bool shared = plan::without_units(space) == loops_;
    int64_t next = 0;
    for (size_t d = 0; d < space.size(); ++d) {
      const bool reduces = shared && std::find(reduced_.begin(), reduced_.end(), next) != reduced_.end();
      (reduces && space[d] != 1 ? inner : order).push_back(d);
      next += space[d] != 1;
    }
    order.insert(order.end(), inner.begin(), inner.end());
    return order;
  }

  /// Parallel loops over a space, the body given each index: one loop over positions, or one for each dimension.
  void over(const Shape& space, bool flat, const std::function<void(const Index&)>& body) {
    if (flat || space.rank() == 0) {
      const int64_t n = space.num_elements();
      if (n == 1) {
        Index index = Index::of_parts(Ids(space.size(), emitter_.index(0)));
        index.flat = emitter_.index(0);
        return body(index);
      }
      emitter_.loop(LoopKind::parallel, n, {}, {}, emitter_.depth(), [&](Id i, std::span<const Id>) {
        if (space.rank() == 1) {
          Index index = Index::of_parts({i});
          index.flat = i;
          body(index);
        } else {
          body(Index::of_flat(i));
        }
        return Ids{};
      });
      return;
    }
    Ids parts(space.size(), emitter_.index(0));
    const std::vector<size_t> order = loop_order(space);
    std::function<void(size_t)> level = [&](size_t i) {
      if (i == order.size()) return body(Index::of_parts(parts));
      if (space[order[i]] == 1) return level(i + 1);
      emitter_.loop(LoopKind::parallel, space[order[i]], {}, {}, emitter_.depth(), [&](Id at, std::span<const Id>) {
        parts[order[i]] = at;
        level(i + 1);
        return Ids{};
      });
    };
    level(0);
  }

  const Memory& memory_;
  Emitter emitter_;
  Elements elements_;
  MemoryFrame frame_;
  plan::Extents loops_, reduced_;  // that maps and reductions share
  bool flat_ = true;               // elements of several dimensions may be numbered in row-major order
};

void GroupBuilder::scatter(const Equation& e) {
  const Graph& g = memory_.graph;
  const Value x = e.operand(0), indices = e.operand(1), updates = e.operand(2);
  const Shape& shape = g.shape(x);
  const Shape& update_shape = g.shape(updates);
  const auto& window_dims = e.attributes().ints("update_window_dims");
  const auto& inserted = e.attributes().ints("inserted_window_dims");
  const auto& targets = e.attributes().ints("scatter_dims_to_operand_dims");
  const auto& operand_batch = e.attributes().ints("operand_batching_dims");
  const auto& index_batch = e.attributes().ints("indices_batching_dims");
  const auto has = [](const std::vector<int64_t>& list, size_t v) {
    return std::find(list.begin(), list.end(), static_cast<int64_t>(v)) != list.end();
  };
  const Operand to = destination(e.result());
  // The operand first, then the updates one after the other.
  if (!memory_.is_updated(e.result()))
    over(shape, to.dense && elements_.flat(frame_, x),
         [&](const Index& index) { put(to, shape, index, elements_.element(frame_, x, index)); });
  PrimitiveId combine = id_of<Add>;
  switch (e.id()) {
    case id_of<ScatterMul>:
      combine = id_of<Mul>;
      break;
    case id_of<ScatterMin>:
      combine = id_of<Min>;
      break;
    case id_of<ScatterMax>:
      combine = id_of<Max>;
      break;
    default:
      break;
  }
  std::vector<size_t> batch_dims;  // of the updates
  for (size_t i = 0; i < update_shape.size(); ++i)
    if (!has(window_dims, i)) batch_dims.push_back(i);
  std::vector<size_t> window_operand_dims;  // operand dimensions that the window runs over
  for (size_t i = 0; i < shape.size(); ++i)
    if (!has(inserted, i) && !has(operand_batch, i)) window_operand_dims.push_back(i);

  Ids at(update_shape.size(), emitter_.index(0));
  const auto body = [&] {
    Ids parts(shape.size(), emitter_.index(0));
    Id inside = kNone;
    // Batch dimensions of the indices are those of the updates in order, the index vector being the last one.
    Ids index_parts;
    for (size_t d : batch_dims) index_parts.push_back(at[d]);
    for (size_t i = 0; i < operand_batch.size(); ++i)
      parts[static_cast<size_t>(operand_batch[i])] = index_parts[static_cast<size_t>(index_batch[i])];
    const auto both = [&](Id condition) {
      inside = inside == kNone ? condition : emitter_.scalar(id_of<And>, DType::bool_, {inside, condition});
    };
    Ids window(shape.size(), kNone);
    for (size_t i = 0; i < window_operand_dims.size(); ++i)
      window[window_operand_dims[i]] = at[static_cast<size_t>(window_dims[i])];
    for (size_t k = 0; k < targets.size(); ++k) {
      Ids place = index_parts;
      place.push_back(emitter_.index(static_cast<int64_t>(k)));
      const auto d = static_cast<size_t>(targets[k]);
      Id raw = elements_.element(frame_, indices, Index::of_parts(place));
      int64_t extent = shape[d];
      for (size_t i = 0; i < window_operand_dims.size(); ++i)
        if (window_operand_dims[i] == d) extent -= update_shape[static_cast<size_t>(window_dims[i])] - 1;
      // A window that is not wholly inside is dropped. A huge unsigned index converts to a negative one.
      raw = elements_.convert(raw, DType::i64);
      both(emitter_.scalar(id_of<Ge>, DType::bool_, {raw, emitter_.index(0)}));
      both(emitter_.scalar(id_of<Lt>, DType::bool_, {raw, emitter_.index(extent)}));
      parts[d] = raw;
    }
    for (size_t i = 0; i < shape.size(); ++i)
      if (window[i] != kNone) parts[i] = emitter_.add(parts[i], window[i]);
    const Id update = elements_.element(frame_, updates, Index::of_parts(at));
    const auto write = [&] {
      Id value = update;
      const Id where = elements_.linear(to, shape, Index::of_parts(parts));
      if (e.id() != id_of<primitives::Scatter>) {
        const Id current = emitter_.load(to.buffer, where, true);
        value = emitter_.scalar(combine, g.dtype(x), {current, update});
      }
      emitter_.store(to.buffer, where, value);
      return 0;
    };
    inside == kNone ? write() : emitter_.under(inside, write);
  };
  // Updates follow each other in row-major order. One window does not overlap itself: window dimensions inside all
  // others may run in any order.
  const size_t parallel_from = batch_dims.empty() ? 0 : batch_dims.back() + 1;
  std::function<void(size_t)> level = [&](size_t i) {
    if (i == update_shape.size()) return body();
    const size_t d = i;
    if (update_shape[d] == 1) return level(i + 1);
    const LoopKind kind = d < parallel_from ? LoopKind::sequential : LoopKind::parallel;
    emitter_.loop(kind, update_shape[d], {}, {}, emitter_.depth(), [&](Id index, std::span<const Id>) {
      const Id saved = at[d];
      at[d] = index;
      level(i + 1);
      at[d] = saved;
      return Ids{};
    });
  };
  level(0);
}

std::string kernel_name(const Memory& memory, const plan::Group& group) {
  std::string name = "fused";
  if (group.around && role_of(*group.around) != Role::contraction) return name + "_" + group.around->primitive();
  const Graph& g = memory.graph;
  std::vector<Value> stack(group.roots.rbegin(), group.roots.rend());
  std::vector<std::string> parts;
  std::vector<Value> seen;
  while (!stack.empty() && parts.size() < 5) {
    const Value v = stack.back();
    stack.pop_back();
    if (g.kind(v) != ValueKind::result || std::find(seen.begin(), seen.end(), v) != seen.end()) continue;
    const bool root = std::find(group.roots.begin(), group.roots.end(), v) != group.roots.end();
    if (!root && memory.plan.in_memory[v.id()]) continue;
    seen.push_back(v);
    const Equation& e = *g.definition(v);
    if (role_of(e) != Role::view || root) parts.push_back(e.primitive());
    for (size_t i = e.operands().size(); i-- > 0;) stack.push_back(e.operand(i));
  }
  std::reverse(parts.begin(), parts.end());
  for (const std::string& p : parts) name += "_" + p;
  return name;
}

}  // namespace

BoundKernel build_group(const Memory& memory, const plan::Group& group) {
  BoundKernel out;
  out.kernel.name = kernel_name(memory, group);
  {
    GroupBuilder builder(memory, out, group.roots);
    if (!group.around) {
      if (!group.loops.empty()) builder.share_loops(group);
      std::vector<Item> items;
      for (Value v : group.roots) {
        items.push_back({v, builder.destination(v)});
        for (const auto& [value, place] : memory.also)
          if (value == v) items.push_back({v, builder.frame().bind(place)});
      }
      builder.map(std::move(items));
    } else {
      switch (role_of(*group.around)) {
        case Role::cumulative:
          builder.cumulative(*group.around);
          break;
        case Role::scatter:
          builder.scatter(*group.around);
          break;
        case Role::contraction:
          builder.contraction(*group.around, group.roots);
          break;
        default:
          builder.scan(*group.around, group.space, group.roots);
          break;
      }
    }
  }
  unroll_loops(out.kernel);
  if (!group.around) fuse_loops(out.kernel, out.views);
  split_loops(out.kernel);
  schedule(out.kernel);
  return out;
}

BoundKernel build_copy(const Memory& memory, std::span<const Value> values, std::span<const Binding> destinations) {
  BoundKernel out;
  out.kernel.name = "copy";
  {
    GroupBuilder builder(memory, out, {});
    std::vector<Item> items;
    for (size_t i = 0; i < values.size(); ++i) items.push_back({values[i], builder.frame().bind(destinations[i])});
    builder.map(std::move(items));
  }
  split_loops(out.kernel);
  schedule(out.kernel);
  return out;
}

}  // namespace calque::kernel
