#include "kernel/group.h"

#include <algorithm>

#include "kernel/contraction.h"
#include "kernel/fuse_loops.h"
#include "kernel/group_builder.h"
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

Operand GroupBuilder::row_major(const Shape& shape) {
  Operand o;
  o.strides = row_major_strides(shape);
  return o;
}

void GroupBuilder::cumulative(const Equation& e) {
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

void GroupBuilder::contraction(const Equation& e, std::span<const Value> roots) {
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

void GroupBuilder::scan(const Equation& e, const Shape& space, std::span<const Value> roots) {
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

namespace {

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
      std::vector<GroupBuilder::Item> items;
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
    std::vector<GroupBuilder::Item> items;
    for (size_t i = 0; i < values.size(); ++i) items.push_back({values[i], builder.frame().bind(destinations[i])});
    builder.map(std::move(items));
  }
  split_loops(out.kernel);
  schedule(out.kernel);
  return out;
}

}  // namespace calque::kernel
