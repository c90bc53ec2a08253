// Collective operations: among the examples of a named axis that vmap maps over, and among processes.
#include "primitives/control/collectives.h"

#include <utility>
#include <vector>

#include "calque/detail/array_data.h"
#include "calque/detail/ops.h"
#include "calque/device.h"

#include "frontend/ops/common.h"
#include "frontend/ops/mapped_axes.h"
#include "primitives/control/collective_route.h"
#include "trace/builder.h"

namespace calque::detail {
namespace {

std::vector<std::shared_ptr<const MappedAxis>>& axes() {
  thread_local std::vector<std::shared_ptr<const MappedAxis>> stack;
  return stack;
}

}  // namespace

MappedAxisScope::MappedAxisScope(std::shared_ptr<const MappedAxis> axis) : bound_(axis != nullptr) {
  if (bound_) axes().push_back(std::move(axis));
}
MappedAxisScope::~MappedAxisScope() {
  if (bound_) axes().pop_back();
}

std::shared_ptr<const MappedAxis> mapped_axis(std::string_view name) {
  for (size_t i = axes().size(); i-- > 0;) {
    const std::string label = axes()[i]->label();
    if (label.empty() || label == name) return axes()[i];
  }
  return nullptr;
}

}  // namespace calque::detail

namespace calque::detail::ops {
namespace {

std::shared_ptr<const MappedAxis> axis_of(std::string_view name, const Site& s) {
  if (auto axis = mapped_axis(name)) return axis;
  std::string known;
  for (const auto& axis : axes()) known += (known.empty() ? "" : ", ") + ("\"" + axis->label() + "\"");
  throw Error(
      std::string(s.name) + ": no axis \"" + std::string(name) + "\" is mapped over here" +
      (known.empty() ? "; name it, cq::vmap(f, {.axis_name = \"" + std::string(name) + "\"})" : ", only " + known) +
      where_text(s.at));
}

Attributes of_group(const std::shared_ptr<const CollectiveGroup>& group) {
  return {{"group", std::shared_ptr<const Opaque>(group)}, {"size", group->size()}};
}

std::string_view name_of(ReduceOp op) { return op == ReduceOp::sum ? "psum" : op == ReduceOp::max ? "pmax" : "pmin"; }

}  // namespace

Handle mapped_reduce(ReduceOp op, const Operand& x, DType dtype, std::string_view axis, Location at) {
  const Site s{name_of(op), at};
  Attributes attributes = of_group(axis_of(axis, s));
  attributes.set("op", std::string(to_string(op)));
  const Handle operand = value(x, dtype, s);
  if (is_bool(dtype)) s.dtype_error("needs numbers, got bool; cast it");
  return detail::emit(prim::get<prim::AllReduce>(), {operand}, std::move(attributes), at);
}

Handle mapped_gather(const Operand& x, DType dtype, std::string_view axis, Location at) {
  const Site s{"all_gather", at};
  Attributes attributes = of_group(axis_of(axis, s));
  return detail::emit(prim::get<prim::AllGather>(), {value(x, dtype, s)}, std::move(attributes), at);
}

Handle mapped_scatter(const Operand& x, DType dtype, std::string_view axis, Location at) {
  const Site s{"psum_scatter", at};
  const auto group = axis_of(axis, s);
  Attributes attributes = of_group(group);
  attributes.set("op", std::string("sum"));
  const Handle operand = value(x, dtype, s);
  const Shape shape = ops::shape(operand);
  if (is_bool(dtype)) s.dtype_error("needs numbers, got bool; cast it");
  if (shape.rank() == 0 || shape[0] != group->size())
    s.shape_error("needs [" + std::to_string(group->size()) + ", ...], a row for each example, got " +
                  to_string(type(operand)));
  return detail::emit(prim::get<prim::ReduceScatter>(), {operand}, std::move(attributes), at);
}

Handle mapped_permute(const Operand& x, DType dtype, std::string_view axis,
                      std::span<const std::pair<int64_t, int64_t>> pairs, Location at) {
  const Site s{"ppermute", at};
  const auto group = axis_of(axis, s);
  std::vector<int64_t> list;
  std::vector<bool> is_source(static_cast<size_t>(group->size())), is_target(is_source.size());
  const auto add = [&](int64_t rank, std::vector<bool>& seen, std::string_view what) {
    if (rank < 0 || rank >= group->size())
      s.shape_error("the axis has " + std::to_string(group->size()) + " examples, and " + std::to_string(rank) +
                    " is a " + std::string(what));
    if (seen[static_cast<size_t>(rank)])
      s.shape_error(std::to_string(rank) + " is the " + std::string(what) + " of two pairs");
    seen[static_cast<size_t>(rank)] = true;
    list.push_back(rank);
  };
  for (const auto& [source, target] : pairs) {
    add(source, is_source, "source");
    add(target, is_target, "target");
  }
  Attributes attributes = of_group(group);
  attributes.set("pairs", std::move(list));
  return detail::emit(prim::get<prim::CollectivePermute>(), {value(x, dtype, s)}, std::move(attributes), at);
}

Handle axis_index(std::string_view axis, Location at) {
  const Site s{"axis_index", at};
  const auto group = axis_of(axis, s);
  innermost(s.name, at);
  return detail::emit(prim::get<prim::AxisIndex>(), std::initializer_list<Handle>{}, of_group(group), at);
}

int64_t axis_size(std::string_view axis, Location at) { return axis_of(axis, {"axis_size", at})->size(); }

namespace {

bool combines(Collective kind) {
  return kind == Collective::all_reduce || kind == Collective::reduce || kind == Collective::reduce_scatter ||
         kind == Collective::scan;
}

void check_rank(int64_t rank, std::string_view what, const ProcessGroup& group, const Site& s) {
  if (rank >= 0 && rank < group.size()) return;
  s.shape_error(std::string(what) + " is " + std::to_string(rank) + ", and the ranks of " + group.label() +
                " are 0 to " + std::to_string(group.size() - 1));
}

void check_ranks(const CollectiveCall& call, const ProcessGroup& group, const Site& s) {
  switch (call.kind) {
    case Collective::reduce:
    case Collective::broadcast:
    case Collective::gather:
    case Collective::scatter:
      return check_rank(call.peer, "the root", group, s);
    case Collective::send:
      return check_rank(call.peer, "dest", group, s);
    case Collective::receive:
      return check_rank(call.source, "source", group, s);
    case Collective::send_receive:
      if (call.peer != -1) check_rank(call.peer, "dest", group, s);
      if (call.source != -1) check_rank(call.source, "source", group, s);
      return;
    default:
      return;
  }
}

void check_op(const CollectiveCall& call, const Type& x, const Site& s) {
  const bool is_logical = call.op == ReduceOp::all || call.op == ReduceOp::any;
  const bool is_ordered = call.op == ReduceOp::max || call.op == ReduceOp::min;
  const std::string op(to_string(call.op));
  if (is_logical && !is_bool(x.dtype)) s.dtype_error(op + " needs bool, got " + to_string(x));
  if (!is_logical && is_bool(x.dtype))
    s.dtype_error(op + " needs numbers, got " + to_string(x) + "; use all or any, or cast it");
  if (is_ordered && is_complex(x.dtype)) s.dtype_error(op + " needs an order, got " + to_string(x));
}

PrimitiveId primitive_of(Collective kind) {
  switch (kind) {
    case Collective::all_reduce:
      return prim::id_of<prim::AllReduce>;
    case Collective::reduce:
      return prim::id_of<prim::CollectiveReduce>;
    case Collective::broadcast:
      return prim::id_of<prim::CollectiveBroadcast>;
    case Collective::all_gather:
      return prim::id_of<prim::AllGather>;
    case Collective::gather:
      return prim::id_of<prim::CollectiveGather>;
    case Collective::scatter:
      return prim::id_of<prim::CollectiveScatter>;
    case Collective::reduce_scatter:
      return prim::id_of<prim::ReduceScatter>;
    case Collective::all_to_all:
      return prim::id_of<prim::AllToAll>;
    case Collective::send_receive:
      return prim::id_of<prim::SendReceive>;
    case Collective::send:
      return prim::id_of<prim::Send>;
    case Collective::receive:
      return prim::id_of<prim::Receive>;
    case Collective::scan:
      return prim::id_of<prim::CollectiveScan>;
    default:
      return prim::id_of<prim::Barrier>;
  }
}

}  // namespace

Type result_of_collective(const CollectiveCall& call, const ProcessGroup& group, std::string_view name) {
  const Site s{name, call.location};
  check_ranks(call, group, s);
  if (combines(call.kind)) check_op(call, call.operand, s);
  const Shape& shape = call.operand.shape;
  switch (call.kind) {
    case Collective::all_gather:
    case Collective::gather:
      return {call.operand.dtype, shape.with_inserted(0, group.size())};
    case Collective::scatter:
    case Collective::reduce_scatter:
    case Collective::all_to_all:
      if (shape.rank() == 0 || shape[0] != group.size())
        s.shape_error("needs [" + std::to_string(group.size()) + ", ...], a row for each of the ranks of " +
                      group.label() + ", got " + to_string(call.operand));
      return {call.operand.dtype, call.kind == Collective::all_to_all ? shape : shape.without(0)};
    case Collective::receive:
      return call.result;
    default:
      return call.operand;
  }
}

Handle collective(const std::shared_ptr<const ProcessGroup>& group, CollectiveCall call, const Operand* x,
                  std::string_view name) {
  const Site s{name, call.location};
  innermost(s.name, s.at);
  std::vector<Handle> operands, results;
  if (x != nullptr) {
    operands.push_back(value(*x, call.operand.dtype, s));
    call.operand = type(operands[0]);
  }
  call.result = result_of_collective(call, *group, name);
  Attributes attributes = of_group(group);
  if (combines(call.kind)) attributes.set("op", std::string(to_string(call.op)));
  switch (call.kind) {
    case Collective::reduce:
    case Collective::broadcast:
    case Collective::gather:
    case Collective::scatter:
      attributes.set("root", call.peer);
      break;
    case Collective::send_receive:
      attributes.set("source", call.source);
      [[fallthrough]];
    case Collective::send:
      attributes.set("dest", call.peer);
      break;
    case Collective::receive:
      attributes.set("source", call.source);
      attributes.set("results", std::vector<Type>{call.result});
      break;
    default:
      break;
  }
  detail::emit(primitive(primitive_of(call.kind)), operands, std::move(attributes), {}, s.at, results);
  return results.empty() ? Handle{} : results[0];
}

AnyArray run_collective(const std::shared_ptr<const ProcessGroup>& group, CollectiveCall call, const AnyArray* x,
                        std::string_view name) {
  const Device device = x != nullptr ? x->device() : Device{};
  if (call.kind == Collective::receive) x = nullptr;
  if (x != nullptr) call.operand = x->type();
  call.result = result_of_collective(call, *group, name);
  if (device != Device{}) return communicate_on_device(name, *group, call, x, device);
  const prim::RouteCollectives of_its_own(nullptr);
  const bool has_result = call.kind != Collective::send && call.kind != Collective::barrier;
  AnyArray result = has_result ? prim::make_array(call.result) : AnyArray();
  prim::run_collective(*group, call, x != nullptr ? x->data() : nullptr, has_result ? result.mutable_data() : nullptr);
  return result;
}

}  // namespace calque::detail::ops
