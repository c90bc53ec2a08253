#include "primitives/control/collectives.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "primitives/control/collective_route.h"
#include "primitives/control/effects.h"
#include "primitives/core/emit.h"
#include "primitives/registration.h"

namespace calque::primitives {
namespace {

ReduceOp op_of(const Attributes& attributes) {
  const auto& name = attributes.get<std::string>("op");
  for (const ReduceOp op :
       {ReduceOp::sum, ReduceOp::prod, ReduceOp::max, ReduceOp::min, ReduceOp::all, ReduceOp::any}) {
    if (to_string(op) == name) return op;
  }
  throw CompileError(fmt::format("collective: op is sum, prod, max, min, all or any, got \"{}\"", name));
}

/// The primitive that combines the rows of one array.
PrimitiveId reduction_of(ReduceOp op) {
  switch (op) {
    case ReduceOp::sum:
      return id_of<ReduceSum>;
    case ReduceOp::prod:
      return id_of<ReduceProd>;
    case ReduceOp::max:
      return id_of<ReduceMax>;
    case ReduceOp::min:
      return id_of<ReduceMin>;
    case ReduceOp::all:
      return id_of<ReduceAnd>;
    default:
      return id_of<ReduceOr>;
  }
}

int64_t size_of_group(const Attributes& attributes) { return attributes.integer("size"); }

bool is_sum(const Attributes& attributes) { return op_of(attributes) == ReduceOp::sum; }

const Type kNothing{DType::bool_, {}};

void read_parameters(CollectiveCall& call, const Attributes& attributes) {
  if (attributes.has("op")) call.op = op_of(attributes);
  for (const std::string_view name : {"root", "dest"}) {
    if (attributes.has(name)) call.peer = attributes.integer(name);
  }
  if (attributes.has("source")) call.source = attributes.integer("source");
}

// ---- typing

void check_group(const Typing& t) {
  const Attributes& a = t.attributes();
  const auto& object = a.get<std::shared_ptr<const Opaque>>("group");
  if (object == nullptr) t.rule_error("expects a group");
  const int64_t size = size_of_group(a);
  if (size < 0) t.rule_error(fmt::format("the group has {} ranks", size));
  const auto group = group_of(a);
  if (group != nullptr && group->size() != size)
    t.rule_error(fmt::format("size is {} and the group {} has {}", size, group->label(), group->size()));
}

void check_rank(const Typing& t, std::string_view what, int64_t rank, bool may_be_none) {
  const int64_t size = size_of_group(t.attributes());
  if ((may_be_none && rank == -1) || (rank >= 0 && rank < size)) return;
  t.rule_error(fmt::format("{} is {}, and the ranks are 0 to {}", what, rank, size - 1));
}

void check_op(const Typing& t) {
  const ReduceOp op = op_of(t.attributes());
  const bool is_logical = op == ReduceOp::all || op == ReduceOp::any;
  const bool is_ordered = op == ReduceOp::max || op == ReduceOp::min;
  const DTypeSet set = is_logical ? kBool : is_ordered ? kReal : kNumber;
  if (contains(set, t.operand(0).dtype)) return;
  t.dtype_error(fmt::format("{} expects {}, got {}", to_string(op), describe(set), to_string(t.operand(0))));
}

void infer_same(Typing& t) {
  check_group(t);
  t.result(t.operand(0));
}

void infer_gathered(Typing& t) {
  check_group(t);
  const Type& x = t.operand(0);
  t.result({x.dtype, x.shape.with_inserted(0, size_of_group(t.attributes()))});
}

/// One row for each rank.
void check_rows(const Typing& t) {
  const Type& x = t.operand(0);
  const int64_t size = size_of_group(t.attributes());
  if (x.shape.rank() > 0 && x.shape[0] == size) return;
  t.shape_error(fmt::format("expects [{}, ...], a row for each rank, got {}", size, to_string(x)));
}

void infer_row(Typing& t) {
  check_group(t);
  check_rows(t);
  t.result({t.operand(0).dtype, t.operand(0).shape.without(0)});
}

// ---- derivatives

/// The tangent of what is linear.
template <class P>
void jvp_linear(Jvp& j) {
  j.add(j.emit<P>({j.tangents[0]}, Attributes(j.attributes())));
}

Attributes of_group(const Attributes& from) {
  return {{"group", from.get<std::shared_ptr<const Opaque>>("group")}, {"size", size_of_group(from)}};
}
Attributes of_root(const Attributes& from) {
  Attributes out = of_group(from);
  out.set("root", from.integer("root"));
  return out;
}
Attributes sum_of_group(const Attributes& from) {
  Attributes out = of_group(from);
  out.set("op", std::string("sum"));
  return out;
}

/// The number of this process in the group. Throws CompileError when it is not one of processes.
int64_t rank_in_group(const Attributes& attributes) {
  const auto group = std::dynamic_pointer_cast<const ProcessGroup>(group_of(attributes));
  if (group == nullptr) throw CompileError("collective: the group is not one of processes");
  return group->rank();
}

/// The tangent of a combination that is not linear: that of one array, the rows of which `Gather` brings together.
/// Combines rows from the first to `limit`.
template <class Gather>
Value tangent_of_rows(Jvp& j, int64_t limit) {
  const Value rows = j.emit<Gather>({j.primals[0]}, of_group(j.attributes()));
  const Value tangents = j.emit<Gather>({j.tangents[0]}, of_group(j.attributes()));
  Graph combine;
  const Value x = combine.add_input(j.writer.type(rows));
  const Writer w(combine, j.writer.location());
  const Value first = limit == w.shape(x)[0] ? x : w.slice(x, 0, 0, limit);
  combine.set_outputs({w.emit(reduction_of(op_of(j.attributes())), {first}, {{"axes", std::vector<int64_t>{0}}})});
  const Graph derivative = j.subgraphs.jvp(combine, {true}, {true});
  return j.writer.inline_graph(derivative, std::array{rows, tangents})[1];
}

void require_sum(const Transposition& t) {
  if (!is_sum(t.attributes())) refuse(t.equation, NotLinear::reason);
}

// ---- batching

bool is_of_axis(const Batching& b) {
  return b.axis != nullptr && b.attributes().get<std::shared_ptr<const Opaque>>("group").get() == b.axis;
}

/// The processes over which the mapped axis is sharded; null if it is not.
std::shared_ptr<const ProcessGroup> processes_of(const Batching& b) {
  return static_cast<const MappedAxis*>(b.axis)->processes();
}

Attributes of_processes(const std::shared_ptr<const ProcessGroup>& processes) {
  return {{"group", std::shared_ptr<const Opaque>(processes)}, {"size", processes->size()}};
}

[[noreturn]] void refuse_axis(const Batching& b) {
  throw CompileError(fmt::format("{}: has no meaning along a mapped axis{}", b.equation.primitive(),
                                 where_text(b.equation.location())));
}

/// Of what maps x to an array of the same shape.
void batch_message(Batching& b) {
  if (is_of_axis(b)) refuse_axis(b);
  batch_same(b);
}

/// The batch dimension comes after that of the ranks.
template <class P, bool MoveOperand, bool MoveResult>
void batch_rows(Batching& b) {
  const Value x = MoveOperand ? b.writer.move_axis(b.operands[0], 0, 1) : b.operands[0];
  const Value y = b.emit<P>({x}, Attributes(b.attributes()));
  b.result(MoveResult ? b.writer.move_axis(y, 1, 0) : y);
}

/// The x of all examples, of all processes if the axis is sharded over several.
Value all_examples(const Batching& b) {
  const Value x = b.batched_operand(0);
  const auto processes = processes_of(b);
  if (processes == nullptr) return x;
  const Value rows = b.emit<AllGather>({x}, of_processes(processes));
  const Shape& shape = b.writer.shape(x);
  return b.writer.reshape(rows, shape.without(0).with_inserted(0, processes->size() * shape[0]));
}

/// The number of this process's first example.
int64_t first_example(const Batching& b) {
  const auto processes = processes_of(b);
  return processes == nullptr ? 0 : processes->rank() * b.size;
}

/// Rows of x in that order, zeros for -1: slices of neighbours and blocks of zeros, concatenated.
Value rows_in_order(const Writer& w, Value x, std::span<const int64_t> order) {
  ValueList parts;
  for (size_t i = 0; i < order.size();) {
    size_t end = i + 1;
    const bool is_zero = order[i] < 0;
    while (end < order.size() && order[end] == (is_zero ? -1 : order[end - 1] + 1)) ++end;
    const auto count = static_cast<int64_t>(end - i);
    if (is_zero) {
      parts.push_back(w.zeros({w.dtype(x), w.shape(x).without(0).with_inserted(0, count)}));
    } else {
      parts.push_back(w.slice(x, 0, order[i], order[i] + count));
    }
    i = end;
  }
  if (parts.empty()) return w.slice(x, 0, 0, 0);
  return parts.size() == 1 ? parts[0] : w.concatenate(std::move(parts), 0);
}

}  // namespace

std::shared_ptr<const CollectiveGroup> group_of(const Attributes& attributes) {
  const AttributeValue* group = attributes.find("group");
  if (group == nullptr) return nullptr;
  return std::dynamic_pointer_cast<const CollectiveGroup>(std::get<std::shared_ptr<const Opaque>>(*group));
}

namespace {

void add_mapped_axes(const Graph& graph, std::vector<std::shared_ptr<const MappedAxis>>& axes) {
  for (const Equation& e : graph.equations()) {
    for (const Graph& g : e.subgraphs()) add_mapped_axes(g, axes);
    if (!e.definition().has_effect) continue;  // axis_index combines nothing
    auto axis = std::dynamic_pointer_cast<const MappedAxis>(group_of(e.attributes()));
    if (axis != nullptr && std::find(axes.begin(), axes.end(), axis) == axes.end()) axes.push_back(std::move(axis));
  }
}

}  // namespace

std::vector<std::shared_ptr<const MappedAxis>> mapped_axes_of(const Graph& graph) {
  std::vector<std::shared_ptr<const MappedAxis>> axes;
  add_mapped_axes(graph, axes);
  return axes;
}

bool communicate_along_axes(const std::vector<Graph>& graphs) {
  return std::any_of(graphs.begin(), graphs.end(), [](const Graph& g) { return !mapped_axes_of(g).empty(); });
}

bool has_effect_of_examples(const Equation& equation) {
  if (equation.definition().has_effect)
    return std::dynamic_pointer_cast<const MappedAxis>(group_of(equation.attributes())) == nullptr;
  return std::any_of(equation.subgraphs().begin(), equation.subgraphs().end(), [](const Graph& g) {
    return std::any_of(g.equations().begin(), g.equations().end(), &has_effect_of_examples);
  });
}

std::optional<CollectiveCall> collective_call(PrimitiveId id, const Attributes& attributes,
                                              std::span<const Type> operands, std::span<const Type> results,
                                              const Location& location) {
  CollectiveCall call;
  call.operand = operands.empty() ? kNothing : operands[0];
  call.result = results.empty() ? kNothing : results[0];
  call.location = location;
  const auto is = [&]<class... P>(TypeList<P...>) {
    const auto matches = [&]<class Q>() {
      if constexpr (requires { Q::collective; }) {
        if (id != id_of<Q>) return false;
        call.kind = Q::collective;
        return true;
      }
      return false;
    };
    return (matches.template operator()<P>() || ...);
  };
  if (!is(CollectivesList{})) return std::nullopt;
  read_parameters(call, attributes);
  return call;
}

const ProcessGroup& processes_of(const Opaque& group, const CollectiveCall& call) {
  if (const auto* processes = dynamic_cast<const ProcessGroup*>(&group)) return *processes;
  throw CompileError(
      fmt::format("{}: {} is no group of processes{}", to_string(call.kind), group.label(), where_text(call.location)));
}

namespace {

struct Started {
  const void* result;
  std::unique_ptr<ProcessGroup::Pending> call;
};
std::vector<Started>& started_calls() {
  thread_local std::vector<Started> calls;
  return calls;
}

}  // namespace

namespace {

thread_local const RouteCollectives::Route* route = nullptr;

void run_on(const ProcessGroup& processes, const CollectiveCall& call, const void* operand, void* result) {
  route != nullptr && *route ? (*route)(processes, call, operand, result) : processes.run(call, operand, result);
}

}  // namespace

RouteCollectives::RouteCollectives(Route given) : route_(std::move(given)), outer_(std::exchange(route, &route_)) {}
RouteCollectives::~RouteCollectives() { route = outer_; }

void start_collective(const Opaque& group, const CollectiveCall& call, const void* operand, void* result) {
  if (EffectLog::is_running() || route != nullptr) return run_collective(group, call, operand, result);
  if (auto pending = processes_of(group, call).start(call, operand, result))
    started_calls().push_back({result, std::move(pending)});
}

void finish_collective(const void* result) {
  std::vector<Started>& calls = started_calls();
  const auto found = std::find_if(calls.begin(), calls.end(), [&](const Started& s) { return s.result == result; });
  if (found == calls.end()) return;
  const std::unique_ptr<ProcessGroup::Pending> call = std::move(found->call);
  calls.erase(found);
  call->finish();
}

void abandon_collectives() noexcept {
  for (Started& started : started_calls()) {
    try {
      started.call->finish();
    } catch (...) {
      // The call fails with what came first.
    }
  }
  started_calls().clear();
}

void run_collective(const Opaque& group, const CollectiveCall& call, const void* operand, void* result) {
  const ProcessGroup* const processes = &processes_of(group, call);
  if (!EffectLog::is_running()) return run_on(*processes, call, operand, result);
  // The result is kept for runs that follow.
  const std::vector<AnyArray> results = EffectLog::once([&] {
    std::vector<AnyArray> out;
    void* to = nullptr;
    if (result != nullptr) to = out.emplace_back(make_array(call.result)).mutable_data();
    run_on(*processes, call, operand, to);
    return out;
  });
  if (result != nullptr && results[0].bytes() != 0) std::memcpy(result, results[0].data(), results[0].bytes());
}

template <Collective Kind, int Operands>
void CollectiveRule<Kind, Operands>::evaluate(Evaluation& e) {
  const Opaque& group = *e.attributes.get<std::shared_ptr<const Opaque>>("group");
  CollectiveCall call;
  call.kind = Kind;
  read_parameters(call, e.attributes);
  call.operand = e.operands.empty() ? kNothing : e.operands[0].type();
  call.result = e.result_types.empty() ? kNothing : e.result_types[0];
  void* to = e.result_types.empty() ? nullptr : e.add_result().mutable_data();
  run_collective(group, call, e.operands.empty() ? nullptr : e.operands[0].data(), to);
}

// ---- all_reduce

void AllReduce::infer(Typing& t) {
  check_op(t);
  infer_same(t);
}

void AllReduce::jvp(Jvp& j) {
  if (is_sum(j.attributes())) return jvp_linear<AllReduce>(j);
  j.add(tangent_of_rows<AllGather>(j, size_of_group(j.attributes())));
}

void AllReduce::transpose(Transposition& t) {
  require_sum(t);
  t.add(0, t.emit<AllReduce>({t.cotangent_or_zero(0)}, Attributes(t.attributes())));
}

void AllReduce::batch(Batching& b) {
  if (!is_of_axis(b)) return batch_same(b);
  Value y =
      b.writer.emit(reduction_of(op_of(b.attributes())), {b.batched_operand(0)}, {{"axes", std::vector<int64_t>{0}}});
  if (const auto processes = processes_of(b)) {
    Attributes attributes = of_processes(processes);
    attributes.set("op", b.attributes().get<std::string>("op"));
    y = b.emit<AllReduce>({y}, std::move(attributes));
  }
  b.result(y, false);
}

// ---- collective_reduce

void CollectiveReduce::infer(Typing& t) {
  check_op(t);
  check_rank(t, "the root", t.integer("root"), false);
  infer_same(t);
}

void CollectiveReduce::jvp(Jvp& j) {
  if (is_sum(j.attributes())) return jvp_linear<CollectiveReduce>(j);
  const Value tangent = tangent_of_rows<AllGather>(j, size_of_group(j.attributes()));
  if (rank_in_group(j.attributes()) == j.attributes().integer("root")) j.add(tangent);
}

void CollectiveReduce::transpose(Transposition& t) {
  require_sum(t);
  t.add(0, t.emit<CollectiveBroadcast>({t.cotangent_or_zero(0)}, of_root(t.attributes())));
}

void CollectiveReduce::batch(Batching& b) { batch_message(b); }

// ---- collective_broadcast

void CollectiveBroadcast::infer(Typing& t) {
  check_rank(t, "the root", t.integer("root"), false);
  infer_same(t);
}

void CollectiveBroadcast::jvp(Jvp& j) { jvp_linear<CollectiveBroadcast>(j); }

void CollectiveBroadcast::transpose(Transposition& t) {
  Attributes attributes = of_root(t.attributes());
  attributes.set("op", std::string("sum"));
  t.add(0, t.emit<CollectiveReduce>({t.cotangent_or_zero(0)}, std::move(attributes)));
}

void CollectiveBroadcast::batch(Batching& b) { batch_message(b); }

// ---- all_gather

void AllGather::infer(Typing& t) { infer_gathered(t); }

void AllGather::jvp(Jvp& j) { jvp_linear<AllGather>(j); }

void AllGather::transpose(Transposition& t) {
  t.add(0, t.emit<ReduceScatter>({t.cotangent_or_zero(0)}, sum_of_group(t.attributes())));
}

void AllGather::batch(Batching& b) {
  if (!is_of_axis(b)) return batch_rows<AllGather, false, true>(b);
  b.result(all_examples(b), false);
}

// ---- collective_gather

void CollectiveGather::infer(Typing& t) {
  check_rank(t, "the root", t.integer("root"), false);
  infer_gathered(t);
}

void CollectiveGather::jvp(Jvp& j) { jvp_linear<CollectiveGather>(j); }

void CollectiveGather::transpose(Transposition& t) {
  t.add(0, t.emit<CollectiveScatter>({t.cotangent_or_zero(0)}, of_root(t.attributes())));
}

void CollectiveGather::batch(Batching& b) {
  if (is_of_axis(b)) refuse_axis(b);
  batch_rows<CollectiveGather, false, true>(b);
}

// ---- collective_scatter

void CollectiveScatter::infer(Typing& t) {
  check_rank(t, "the root", t.integer("root"), false);
  infer_row(t);
}

void CollectiveScatter::jvp(Jvp& j) { jvp_linear<CollectiveScatter>(j); }

void CollectiveScatter::transpose(Transposition& t) {
  t.add(0, t.emit<CollectiveGather>({t.cotangent_or_zero(0)}, of_root(t.attributes())));
}

void CollectiveScatter::batch(Batching& b) {
  if (is_of_axis(b)) refuse_axis(b);
  batch_rows<CollectiveScatter, true, false>(b);
}

// ---- reduce_scatter

void ReduceScatter::infer(Typing& t) {
  check_op(t);
  infer_row(t);
}

void ReduceScatter::jvp(Jvp& j) {
  if (is_sum(j.attributes())) return jvp_linear<ReduceScatter>(j);
  j.add(tangent_of_rows<AllToAll>(j, size_of_group(j.attributes())));
}

void ReduceScatter::transpose(Transposition& t) {
  require_sum(t);
  t.add(0, t.emit<AllGather>({t.cotangent_or_zero(0)}, of_group(t.attributes())));
}

void ReduceScatter::batch(Batching& b) {
  if (!is_of_axis(b)) return batch_rows<ReduceScatter, true, false>(b);
  // [examples, rows, ...]: row i of the combination of all examples is the result of example i.
  Value rows =
      b.writer.emit(reduction_of(op_of(b.attributes())), {b.batched_operand(0)}, {{"axes", std::vector<int64_t>{0}}});
  if (const auto processes = processes_of(b)) {
    const Shape& shape = b.writer.shape(rows);
    Attributes attributes = of_processes(processes);
    attributes.set("op", b.attributes().get<std::string>("op"));
    rows = b.writer.reshape(rows, shape.without(0).with_inserted(0, b.size).with_inserted(0, processes->size()));
    rows = b.emit<ReduceScatter>({rows}, std::move(attributes));
  }
  b.result(rows);
}

// ---- all_to_all

void AllToAll::infer(Typing& t) {
  check_rows(t);
  infer_same(t);
}

void AllToAll::jvp(Jvp& j) { jvp_linear<AllToAll>(j); }

void AllToAll::transpose(Transposition& t) {
  t.add(0, t.emit<AllToAll>({t.cotangent_or_zero(0)}, Attributes(t.attributes())));
}

void AllToAll::batch(Batching& b) {
  if (!is_of_axis(b)) return batch_rows<AllToAll, true, true>(b);
  if (processes_of(b) != nullptr) refuse_axis(b);
  b.result(b.writer.move_axis(b.batched_operand(0), 1, 0));
}

// ---- send_receive, send, receive

void SendReceive::infer(Typing& t) {
  check_rank(t, "dest", t.integer("dest"), true);
  check_rank(t, "source", t.integer("source"), true);
  infer_same(t);
}

void SendReceive::jvp(Jvp& j) { jvp_linear<SendReceive>(j); }

void SendReceive::transpose(Transposition& t) {
  Attributes attributes = of_group(t.attributes());
  attributes.set("dest", t.attributes().integer("source"));
  attributes.set("source", t.attributes().integer("dest"));
  t.add(0, t.emit<SendReceive>({t.cotangent_or_zero(0)}, std::move(attributes)));
}

void SendReceive::batch(Batching& b) { batch_message(b); }

void Send::infer(Typing& t) {
  check_group(t);
  check_rank(t, "dest", t.integer("dest"), false);
}

void Send::batch(Batching& b) {
  throw CompileError("send: the rank that receives does not see that vmap made the message a batch; use sendrecv" +
                     where_text(b.equation.location()));
}

void Receive::infer(Typing& t) {
  check_group(t);
  check_rank(t, "source", t.integer("source"), false);
  const auto& types = t.attributes().get<std::vector<Type>>("results");
  if (types.size() != 1) t.rule_error(fmt::format("has one result, got {} types", types.size()));
  t.result(types[0]);
}

void Receive::batch(Batching& b) { refuse_axis(b); }

// ---- collective_scan

void CollectiveScan::infer(Typing& t) {
  check_op(t);
  infer_same(t);
}

void CollectiveScan::jvp(Jvp& j) {
  if (is_sum(j.attributes())) return jvp_linear<CollectiveScan>(j);
  j.add(tangent_of_rows<AllGather>(j, rank_in_group(j.attributes()) + 1));
}

void CollectiveScan::transpose(Transposition& t) {
  require_sum(t);
  // The sum of the cotangents from this rank on.
  const Value all = t.emit<AllGather>({t.cotangent_or_zero(0)}, of_group(t.attributes()));
  const Value rest = t.writer.slice(all, 0, rank_in_group(t.attributes()), size_of_group(t.attributes()));
  t.add(0, t.writer.reduce_sum(rest, {0}));
}

void CollectiveScan::batch(Batching& b) { batch_message(b); }

// ---- barrier

void Barrier::infer(Typing& t) { check_group(t); }

void Barrier::batch(Batching& b) { refuse_axis(b); }

// ---- of mapped axes

void CollectivePermute::infer(Typing& t) {
  const std::vector<int64_t>& pairs = t.ints("pairs");
  if (pairs.size() % 2 != 0) t.rule_error("expects pairs of a source and a target");
  std::vector<int64_t> sources, targets;
  for (size_t i = 0; i < pairs.size(); ++i) {
    check_rank(t, i % 2 == 0 ? "a source" : "a target", pairs[i], false);
    (i % 2 == 0 ? sources : targets).push_back(pairs[i]);
  }
  for (std::vector<int64_t>* ranks : {&sources, &targets}) {
    std::sort(ranks->begin(), ranks->end());
    const auto twice = std::adjacent_find(ranks->begin(), ranks->end());
    if (twice != ranks->end())
      t.rule_error(fmt::format("{} is twice a {}", *twice, ranks == &sources ? "source" : "target"));
  }
  infer_same(t);
}

void CollectivePermute::evaluate(Evaluation& e) {
  throw CompileError(fmt::format("{}: the axis {} is not mapped over", name,
                                 e.attributes.get<std::shared_ptr<const Opaque>>("group")->label()));
}

void CollectivePermute::jvp(Jvp& j) { jvp_linear<CollectivePermute>(j); }

void CollectivePermute::transpose(Transposition& t) {
  std::vector<int64_t> pairs = t.attributes().ints("pairs");
  for (size_t i = 0; i + 1 < pairs.size(); i += 2) std::swap(pairs[i], pairs[i + 1]);
  Attributes attributes = of_group(t.attributes());
  attributes.set("pairs", std::move(pairs));
  t.add(0, t.emit<CollectivePermute>({t.cotangent_or_zero(0)}, std::move(attributes)));
}

void CollectivePermute::batch(Batching& b) {
  if (!is_of_axis(b)) return batch_same(b);
  std::vector<int64_t> sources(static_cast<size_t>(b.size), -1);
  const std::vector<int64_t>& pairs = b.attributes().ints("pairs");
  const int64_t first = first_example(b);
  for (size_t i = 0; i + 1 < pairs.size(); i += 2) {
    const int64_t target = pairs[i + 1] - first;
    if (target >= 0 && target < b.size) sources[static_cast<size_t>(target)] = pairs[i];
  }
  b.result(rows_in_order(b.writer, all_examples(b), sources));
}

void AxisIndex::infer(Typing& t) {
  check_group(t);
  t.result({DType::i32, {}});
}

void AxisIndex::evaluate(Evaluation& e) {
  throw CompileError(fmt::format("{}: the axis {} is not mapped over", name,
                                 e.attributes.get<std::shared_ptr<const Opaque>>("group")->label()));
}

void AxisIndex::batch(Batching& b) {
  const Writer& w = b.writer;
  const Value numbers = w.iota(DType::i32, {b.size}, 0);
  const int64_t first = first_example(b);
  b.result(first == 0 ? numbers : w.add(numbers, w.splat(static_cast<double>(first), w.type(numbers))));
}

template void register_family<CollectivesList>(std::span<const Registration>);

}  // namespace calque::primitives
