#include "kernel/lower/lower_group.h"

#include <algorithm>
#include <unordered_set>

#include "kernel/ir/local_buffers.h"
#include "kernel/lower/group_builder.h"
#include "kernel/lower/lower_contraction.h"
#include "plan/analysis/equations.h"
#include "primitives/registry.h"

namespace calque::kernel {

using namespace primitives;
using plan::fusion_kind_of;
using plan::FusionKind;

Operand GroupBuilder::row_major(const Shape& shape) {
  Operand o;
  o.strides = row_major_strides(shape);
  return o;
}

void GroupBuilder::anchor(const Equation& e) {
  switch (rules(e.id()).anchor.value()) {
    case Anchor::cumulative:
      return cumulative(e);
    case Anchor::scatter:
      return scatter(e);
    case Anchor::cholesky:
      return cholesky(e);
    case Anchor::permute:
      return permute(e);
  }
}

void GroupBuilder::cumulative(const Equation& e) {
  const Graph& g = memory_.graph;
  const Value x = e.operand(0);
  const Shape& shape = g.shape(x);
  const auto axis = static_cast<size_t>(e.attributes().integer("axis"));
  const bool reverse = e.attributes().get<bool>("reverse");
  const Operand to = destination(e.result());
  const DType dtype = g.dtype(x), acc = Elements::accumulator(dtype);
  const Combiner start = rules(e.id()).combiner.value();
  const PrimitiveId combine = primitive_of(scalar_op_of(start));
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

void GroupBuilder::permute(const Equation& e) {
  const Graph& g = memory_.graph;
  const Value x = e.operand(0), positions = e.operand(1);
  const Shape &from = g.shape(x), &shape = g.shape(e.result());
  const Operand to = destination(e.result());
  over(from, false, [&](const Index& index) {
    Ids parts = index.parts;
    parts.back() = elements_.convert(elements_.element(frame_, positions, index), DType::i64);
    const Id inside = emitter_.scalar(
        id_of<And>, DType::bool_,
        {emitter_.scalar(id_of<Ge>, DType::bool_, {parts.back(), emitter_.index(0)}),
         emitter_.scalar(id_of<Lt>, DType::bool_, {parts.back(), emitter_.index(shape[shape.size() - 1])})});
    const Id element = elements_.element(frame_, x, index);
    emitter_.under(inside, [&] {
      emitter_.store(to.buffer, elements_.linear(to, shape, Index::of_parts(parts)), element);
      return 0;
    });
  });
}

void GroupBuilder::contraction(const Equation& e, std::span<const Value> roots) {
  const Graph& g = memory_.graph;
  const Shape& shape = g.shape(e.result());
  std::vector<Operand> to;
  const StoredWindow* const window = memory_.window;
  for (Value v : roots) to.push_back(destination(window != nullptr && window->value == v ? window->result : v));
  build_contraction(elements_, frame_, e, [&](const Index& at, Id accumulator) {
    frame_.give(e.result(), elements_.convert(accumulator, g.dtype(e.result())));
    const bool reshaped = std::any_of(roots.begin(), roots.end(), [&](Value v) { return g.shape(v) != shape; });
    const Index flat = reshaped ? Index::of_flat(elements_.linear(row_major(shape), shape, at)) : at;
    for (size_t i = 0; i < roots.size(); ++i) {
      const Shape& own = g.shape(roots[i]);
      const Index index = own == shape ? at : elements_.with_parts(flat, own);
      elements_.prepare(frame_, roots.subspan(i, 1), index);
      const Id element = elements_.element(frame_, roots[i], index);
      if (window == nullptr || window->value != roots[i]) {
        put(to[i], own, index, element);
        continue;
      }
      Ids parts = elements_.with_parts(index, own).parts;
      for (size_t d = 0; d < parts.size(); ++d) parts[d] = emitter_.add(emitter_.index(window->starts[d]), parts[d]);
      put(to[i], g.shape(window->result), Index::of_parts(parts), element);
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

std::string kernel_name(const Memory& memory, const plan::FusionGroup& group) {
  std::string name = "fused";
  if (group.anchor && fusion_kind_of(*group.anchor) != FusionKind::contraction)
    return name + "_" + group.anchor->primitive();
  const Graph& g = memory.graph;
  std::vector<Value> stack(group.roots.rbegin(), group.roots.rend());
  std::vector<std::string> parts;
  std::unordered_set<uint32_t> roots, seen;  // ids
  for (const Value v : group.roots) roots.insert(v.id());
  while (!stack.empty() && parts.size() < 5) {
    const Value v = stack.back();
    stack.pop_back();
    const bool root = roots.count(v.id()) != 0;
    if (g.kind(v) != ValueKind::result || (!root && memory.plan.values.is_materialized(v))) continue;
    if (!seen.insert(v.id()).second) continue;
    const Equation& e = *g.definition(v);
    if (fusion_kind_of(e) != FusionKind::view || root) parts.push_back(e.primitive());
    for (size_t i = e.operands().size(); i-- > 0;) stack.push_back(e.operand(i));
  }
  std::reverse(parts.begin(), parts.end());
  for (const std::string& p : parts) name += "_" + p;
  return name;
}

}  // namespace

namespace {

using Parts = std::span<const GroupBuilder::Item>;

/// A kernel of some of the parts. Their destinations are buffers of `from`; this kernel gets new buffers bound to the
/// same views.
BoundKernel build_parts(const Memory& memory, const plan::FusionGroup& group, const BoundKernel& from, Parts parts) {
  BoundKernel out;
  out.kernel.name = from.kernel.name;
  {
    GroupBuilder builder(memory, out, group.roots);
    std::vector<GroupBuilder::Item> items(parts.begin(), parts.end());
    for (GroupBuilder::Item& i : items) {
      const auto buffer = static_cast<size_t>(i.to.buffer);
      i.to.buffer = builder.frame().bind(from.views[buffer], from.kernel.buffers[buffer]);
    }
    builder.nests(items);
  }
  return out;
}

std::vector<BoundKernel> build_pointwise(const Memory& memory, const plan::FusionGroup& group, BoundKernel out) {
  GroupBuilder::Split split;
  std::vector<size_t> ends;
  {
    GroupBuilder builder(memory, out, group.roots);
    if (!group.loops.empty()) builder.share_loops(group);
    std::vector<GroupBuilder::Item> items;
    for (Value v : group.roots) {
      items.push_back({v, builder.destination(v)});
      if (!memory.also) continue;
      const auto [begin, end] = memory.also->equal_range(v.id());
      for (auto at = begin; at != end; ++at) items.push_back({v, builder.frame().bind(at->second)});
    }
    split = builder.split(items);
    if (group.loops.empty() && split.updates.empty()) ends = builder.bounded_chunks(split.parts);
    if (ends.size() <= 1) {
      builder.nests(split.parts);
      for (const GroupBuilder::Item& i : split.updates) builder.window(i);
    }
  }
  std::vector<BoundKernel> kernels;
  if (ends.size() <= 1) {
    kernels.push_back(std::move(out));
    return kernels;
  }
  size_t begin = 0;
  for (const size_t end : ends) {
    kernels.push_back(build_parts(memory, group, out, Parts(split.parts).subspan(begin, end - begin)));
    begin = end;
  }
  return kernels;
}

}  // namespace

std::vector<BoundKernel> build_group(const Memory& memory, const plan::FusionGroup& group) {
  BoundKernel out;
  out.kernel.name = kernel_name(memory, group);
  if (!group.anchor) return build_pointwise(memory, group, std::move(out));
  // A scatter in place computes its updates as a pointwise kernel does: reductions in them share loops.
  const bool in_place = memory.is_updated(group.anchor->results()[0]);
  out.kernel.origin = in_place ? KernelOrigin::pointwise : KernelOrigin::anchor_op;
  {
    GroupBuilder builder(memory, out, group.roots);
    switch (fusion_kind_of(*group.anchor)) {
      case FusionKind::anchor:
        builder.anchor(*group.anchor);
        break;
      case FusionKind::contraction:
        builder.contraction(*group.anchor, group.roots);
        break;
      case FusionKind::loop:
        builder.scan(*group.anchor, group.space, group.roots);
        break;
      case FusionKind::elementwise:
      case FusionKind::view:
      case FusionKind::reduction:
      case FusionKind::routine:
      case FusionKind::branch:
      case FusionKind::call:
      case FusionKind::effect:
        throw CompileError("lower: " + group.anchor->primitive() + " anchors no kernel");
    }
  }
  const std::vector<int32_t> numbers = move_locals_last(out.kernel);
  std::vector<View> views(out.kernel.num_parameters());
  for (size_t b = 0; b < numbers.size(); ++b)
    if (static_cast<size_t>(numbers[b]) < views.size()) views[static_cast<size_t>(numbers[b])] = out.views[b];
  out.views = std::move(views);
  std::vector<BoundKernel> one;
  one.push_back(std::move(out));
  return one;
}

std::vector<BoundKernel> build_copy(const Memory& memory, std::span<const Value> values,
                                    std::span<const Binding> destinations) {
  std::vector<BoundKernel> kernels;
  for (size_t begin = 0; begin < values.size(); begin += kMostCopies) {
    BoundKernel& out = kernels.emplace_back();
    out.kernel.name = "copy";
    out.kernel.origin = KernelOrigin::copy;
    {
      GroupBuilder builder(memory, out, {});
      std::vector<GroupBuilder::Item> items;
      for (size_t i = begin; i < std::min(begin + kMostCopies, values.size()); ++i)
        items.push_back({values[i], builder.frame().bind(destinations[i])});
      builder.nests(builder.split(items).parts);
    }
  }
  return kernels;
}

}  // namespace calque::kernel
