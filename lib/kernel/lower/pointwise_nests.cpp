// Loop nests over the index spaces of a fusion group's pointwise operations.
#include <algorithm>
#include <map>
#include <unordered_set>

#include "kernel/lower/group_builder.h"
#include "plan/analysis/equations.h"
#include "primitives/registry.h"

namespace calque::kernel {

using namespace primitives;

void GroupBuilder::share_loops(const plan::FusionGroup& group) {
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
    if (plan::without_size_1_dims(g.shape(v)) == loops_) {
      flat_ = elements_.flat(frame_, v) && (!frame_.is_root(v) || destination(v).dense);
    } else {
      stack.insert(stack.end(), e.operands().begin(), e.operands().end());
    }
  }
  elements_.set_flat(flat_);
}

GroupBuilder::Split GroupBuilder::split(std::span<const Item> items) const {
  Split out;
  for (const Item& i : items) memory_.is_updated(i.value) ? out.updates.push_back(i) : split(i, out.parts);
  return out;
}

// Values that parts share are recomputed in each chunk that needs them: where that is expensive, a chunk may have more
// buffers.
std::vector<size_t> GroupBuilder::bounded_chunks(std::span<const Item> parts) const {
  constexpr size_t kBuffers = 160, kRecomputed = 4;
  const Graph& g = memory_.graph;
  std::vector<size_t> ends;
  size_t buffers = 0, computed = 0, limit = kBuffers;
  std::unordered_set<uint32_t> seen;         // ids
  std::unordered_set<int32_t> destinations;  // buffers
  std::vector<Value> stack;
  // Whether more than one in kRecomputed of the operations of the current chunk are needed for the next parts too.
  const auto recomputes_much = [&](std::span<const Item> next) {
    size_t again = 0;
    std::unordered_set<uint32_t> visited;
    for (const Item& i : next) stack.push_back(i.value);
    while (!stack.empty() && again <= computed / kRecomputed) {
      const Value v = stack.back();
      stack.pop_back();
      if (g.is_literal(v) || !frame_.computes(v) || !visited.insert(v.id()).second) continue;
      again += seen.contains(v.id());
      const auto& operands = g.definition(v)->operands();
      stack.insert(stack.end(), operands.begin(), operands.end());
    }
    stack.clear();
    return again > computed / kRecomputed;
  };
  for (size_t i = 0; i < parts.size(); ++i) {
    if (buffers >= limit) {
      // The next part alone may need little of what later ones need.
      const size_t ahead = std::min(buffers, parts.size() - i);
      if (buffers < memory_.plan.limits.most_buffers && recomputes_much(parts.subspan(i, ahead))) {
        limit = buffers + buffers / 4;
      } else {
        ends.push_back(i);
        buffers = computed = 0;
        limit = kBuffers;
        seen.clear();
        destinations.clear();
      }
    }
    buffers += destinations.insert(parts[i].to.buffer).second;
    stack.push_back(parts[i].value);
    while (!stack.empty()) {
      const Value v = stack.back();
      stack.pop_back();
      if (g.is_literal(v) || !seen.insert(v.id()).second) continue;
      if (frame_.computes(v)) {
        ++computed;
        const auto& operands = g.definition(v)->operands();
        stack.insert(stack.end(), operands.begin(), operands.end());
      } else {
        ++buffers;
      }
    }
  }
  ends.push_back(parts.size());
  return ends;
}

void GroupBuilder::nests(std::span<const Item> parts) {
  // Parts of one shape, ignoring size-1 dimensions, share a loop nest.
  std::vector<std::vector<Item>> nests;
  std::map<std::vector<int64_t>, size_t> by_loops;
  for (const Item& i : parts) {
    const plan::Extents loops = plan::without_size_1_dims(shape_of(i));
    const auto [at, fresh] = by_loops.try_emplace({loops.begin(), loops.end()}, nests.size());
    if (fresh) nests.emplace_back();
    nests[at->second].push_back(i);
  }
  for (const auto& items : nests) nest(items);
}

void GroupBuilder::window(const Item& item) {
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
    const Value from = e.operand(2 + d);
    Id start = elements_.element(frame_, from, Index::of_parts({}));
    if (g.dtype(from) == DType::u64) {  // what i64 does not hold is beyond the last start, too
      const Id most = emitter_.constant(DType::u64, Literal::of<uint64_t>(INT64_MAX));
      start = emitter_.scalar(id_of<Min>, DType::u64, {start, most});
    }
    starts.push_back(emitter_.scalar(id_of<Clamp>, DType::i64, {zero, elements_.convert(start, DType::i64), last}));
  }
  over(slice, false, [&](const Index& index) {
    Ids parts;
    for (size_t d = 0; d < whole.size(); ++d) parts.push_back(emitter_.add(starts[d], index.parts[d]));
    put(item.to, whole, Index::of_parts(parts), elements_.element(frame_, e.operand(1), index));
  });
}

void GroupBuilder::split(const Item& item, std::vector<Item>& parts) const {
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

std::optional<GroupBuilder::Item> GroupBuilder::concatenation(Item item) const {
  const Graph& g = memory_.graph;
  while (g.kind(item.value) == ValueKind::result && frame_.computes(item.value)) {
    const Equation& e = *g.definition(item.value);
    if (e.id() == id_of<Concatenate>) return item;
    if (e.id() != id_of<Reshape>) break;
    const Shape &from = g.shape(e.operand(0)), &to = shape_of(item);
    if (item.to.dense) {
      item.to.strides = row_major_strides(from);
    } else if (plan::without_size_1_dims(from) == plan::without_size_1_dims(to)) {
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

Index GroupBuilder::reshaped_index(const Index& index, const Shape& from, const Shape& to) {
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

void GroupBuilder::nest(std::span<const Item> items) {
  bool flat = flat_;
  for (const Item& i : items) flat = flat && i.to.dense && elements_.flat(frame_, i.value);
  const Shape& space = shape_of(items[0]);
  over(space, flat, [&](const Index& index) {
    // Long chains first; those of one shape are prepared together.
    std::vector<Value> values;
    for (size_t i = 0; i < items.size(); ++i) {
      values.push_back(items[i].value);
      if (i + 1 < items.size() && shape_of(items[i + 1]) == shape_of(items[i])) continue;
      elements_.prepare(frame_, values, reshaped_index(index, space, shape_of(items[i])));
      values.clear();
    }
    for (const Item& i : items) {
      const Index at = reshaped_index(index, space, shape_of(i));
      put(i.to, shape_of(i), at, elements_.element(frame_, i.value, at));
    }
  });
}

std::vector<size_t> GroupBuilder::loop_order(const Shape& space) const {
  std::vector<size_t> order, inner;
  const bool shared = plan::without_size_1_dims(space) == loops_;
  int64_t next = 0;
  for (size_t d = 0; d < space.size(); ++d) {
    const bool reduces = shared && std::find(reduced_.begin(), reduced_.end(), next) != reduced_.end();
    (reduces && space[d] != 1 ? inner : order).push_back(d);
    next += space[d] != 1;
  }
  order.insert(order.end(), inner.begin(), inner.end());
  return order;
}

void GroupBuilder::over(const Shape& space, bool flat, const std::function<void(const Index&)>& body) {
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

}  // namespace calque::kernel
