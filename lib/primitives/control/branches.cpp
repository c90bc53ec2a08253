#include "primitives/control/branches.h"

#include <algorithm>

#include <fmt/format.h>

#include "primitives/control/collectives.h"
#include "primitives/control/subgraph_rules.h"
#include "primitives/core/emit.h"

namespace calque::primitives {
namespace {

/// All branches take the operands from `first` on and return the same types.
void infer_branches(Typing& t, size_t first) {
  const std::vector<Type> operands = operand_types(t, first);
  const std::vector<Type> results = t.subgraphs()[0].output_types();
  for (size_t b = 0; b < t.subgraphs().size(); ++b) {
    t.match(fmt::format("branch {}, input", b), operands, t.subgraphs()[b].input_types());
    t.match(fmt::format("branches differ, result of branch {},", b), results, t.subgraphs()[b].output_types());
  }
  add_results(t, results);
}

/// Broadcasts one bool per example to `shape`.
Value broadcast_lanes(const Writer& w, Value lanes, const Shape& shape) {
  std::vector<int64_t> axes;
  for (int64_t d = 0; d < w.shape(lanes).rank(); ++d) axes.push_back(d);
  return w.broadcast(lanes, shape, std::move(axes));
}

/// Whether the branch of that number is taken, one bool per example if the selector has one value per example.
Value takes_branch(const RuleSite& at, Value selector, size_t branch) {
  const Writer& w = at.writer;
  if (at.equation.id() == id_of<Cond>) return branch == 0 ? selector : w.emit(id_of<Not>, {selector});
  const size_t last = at.equation.subgraphs().size() - 1;
  const Value number = w.splat(static_cast<double>(branch), w.type(selector));
  // The index is clamped: out-of-range indices select the first or the last branch.
  const PrimitiveId relation = branch == 0 ? id_of<Le> : branch == last ? id_of<Ge> : id_of<Eq>;
  return w.emit(relation, {selector, number});
}

/// jvp where branches communicate along mapped axes. An example that takes another branch takes part in what its
/// neighbours combine, so its tangents do too: a branch that one of the examples takes runs for all of them, and each
/// selects among the results.
void jvp_communicating_branches(Jvp& j, const std::vector<bool>& active, const std::vector<bool>& wanted,
                                const ValueList& operands) {
  const Writer& w = j.writer;
  const std::vector<Graph>& branches = j.equation.subgraphs();
  std::vector<Value> chosen;
  for (size_t branch = branches.size(); branch-- > 0;) {
    const Value mine = takes_branch(j, j.primals[0], branch);
    Value runs = mine;
    for (const auto& axis : mapped_axes_of(branches[branch])) {
      runs = j.emit<AllReduce>({runs}, {{"group", std::shared_ptr<const Opaque>(axis)},
                                        {"op", std::string(to_string(ReduceOp::any))},
                                        {"size", axis->size()}});
    }
    Graph body = j.subgraphs.jvp(branches[branch], active, wanted);
    Graph zeros;
    const Writer z(zeros, w.location());
    for (const Type& type : body.input_types()) zeros.add_input(type);
    std::vector<Value> outputs;
    for (const Type& type : body.output_types()) outputs.push_back(z.zeros(type));
    zeros.set_outputs(std::move(outputs));
    ValueList all{runs};
    for (size_t i = 1; i < operands.size(); ++i) all.push_back(operands[i]);
    const Equation& e = w.append(id_of<Cond>, std::move(all), {}, graphs(std::move(body), std::move(zeros)));
    const bool is_first = chosen.empty();
    for (size_t r = 0; r < e.results().size(); ++r) {
      if (is_first) {
        chosen.push_back(e.result(r));
      } else {
        chosen[r] = w.select(broadcast_lanes(w, mine, w.shape(e.result(r))), e.result(r), chosen[r]);
      }
    }
  }
  size_t next = wanted.size();
  for (size_t i = 0; i < wanted.size(); ++i) {
    j.results.push_back(chosen[i]);
    if (wanted[i]) j.result_tangents[i] = chosen[next++];
  }
}

/// cond and switch: every branch returns a tangent for each result that has one in any branch.
void jvp_branches(Jvp& j) {
  const std::vector<Graph>& branches = j.equation.subgraphs();
  const std::vector<bool> active = j.active_from(1);
  std::vector<bool> wanted(j.equation.results().size());
  for (const Graph& g : branches) merge_into(wanted, j.subgraphs.active_outputs(g, active));
  ValueList operands;
  for (const Value v : j.primals) operands.push_back(v);
  for (size_t i = 1; i < j.tangents.size(); ++i) {
    if (j.active(i)) operands.push_back(j.tangents[i]);
  }
  if (communicate_along_axes(branches)) return jvp_communicating_branches(j, active, wanted, operands);
  std::vector<Graph> bodies;
  for (const Graph& g : branches) bodies.push_back(j.subgraphs.jvp(g, active, wanted));
  take_results(j, j.writer.append(j.equation.id(), std::move(operands), j.attributes(), std::move(bodies)), wanted);
}

void transpose_branches(Transposition& t) {
  if (t.linear(0)) refuse(t.equation, NotLinear::reason);
  const std::vector<bool> linear = linear_mask(t, 1, t.operands.size() - 1), given = given_mask(t);
  ValueList operands;
  for (const Value v : t.operands) {
    if (v.valid()) operands.push_back(v);
  }
  for (const Value v : t.cotangents) {
    if (v.valid()) operands.push_back(v);
  }
  std::vector<Graph> branches;
  for (const Graph& g : t.equation.subgraphs()) branches.push_back(t.subgraphs.transpose_partitioned(g, linear, given));
  const Equation& e = t.writer.append(t.equation.id(), std::move(operands), t.attributes(), std::move(branches));
  size_t next = 0;
  for (size_t i = 0; i < linear.size(); ++i) {
    if (linear[i]) t.add(i + 1, e.result(next++));
  }
}

/// Runs all branches and selects among their results per example. In a branch that an example does not take, its
/// operands are constants (stop_gradient), so that NaN derivatives of that branch do not reach it; not if the branch
/// communicates along a mapped axis: then others use what the example gives.
void select_branches(Batching& b) {
  const Writer& w = b.writer;
  const std::vector<Graph>& branches = b.equation.subgraphs();
  std::vector<bool> inputs = slice_of(b.batched, 1, b.batched.size() - 1);
  std::vector<Value> constants(inputs.size());
  for (size_t i = 0; i < inputs.size() && branches.size() > 1; ++i) {
    const DType dtype = b.operand_type(i + 1).dtype;
    if (!is_floating(dtype) && !is_complex(dtype)) continue;
    inputs[i] = true;
    constants[i] = b.emit<StopGradient>({b.batched_operand(i + 1)});
  }
  std::vector<Value> chosen;
  for (size_t branch = branches.size(); branch-- > 0;) {
    const Value mine = takes_branch(b, b.operands[0], branch);
    const bool has_own_operands = mapped_axes_of(branches[branch]).empty();
    std::vector<Value> operands;
    for (size_t i = 0; i < inputs.size(); ++i) {
      const Value x = constants[i].valid() ? b.batched_operand(i + 1) : b.operands[i + 1];
      const bool apart = constants[i].valid() && has_own_operands;
      operands.push_back(apart ? w.select(broadcast_lanes(w, mine, w.shape(x)), x, constants[i]) : x);
    }
    std::vector<bool> outputs(b.equation.results().size(), true);
    const std::vector<Value> its =
        w.inline_graph(b.subgraphs.batch(branches[branch], inputs, b.size, outputs), operands);
    if (chosen.empty()) {
      chosen = its;
      continue;
    }
    for (size_t r = 0; r < its.size(); ++r) {
      chosen[r] = w.select(broadcast_lanes(w, mine, w.shape(its[r])), its[r], chosen[r]);
    }
  }
  for (const Value v : chosen) b.result(v);
}

void batch_branches(Batching& b) {
  if (b.batched[0]) return has_effect_of_examples(b.equation) ? batch_one_by_one(b) : select_branches(b);
  std::vector<bool> outputs(b.equation.results().size());
  std::vector<Graph> branches = batched_branches(b, slice_of(b.batched, 1, b.batched.size() - 1), outputs);
  ValueList operands;
  for (const Value v : b.operands) operands.push_back(v);
  const Equation& e = b.writer.append(b.equation.id(), std::move(operands), b.attributes(), std::move(branches));
  for (size_t i = 0; i < outputs.size(); ++i) b.result(e.result(i), outputs[i]);
}

}  // namespace

void Cond::infer(Typing& t) {
  if (t.operand(0) != Type{DType::bool_, {}}) {
    t.dtype_error(fmt::format("expects a predicate bool[], got {}", to_string(t.operand(0))));
  }
  infer_branches(t, 1);
}

void Cond::evaluate(Evaluation& e) {
  const bool pred = *e.operands[0].data_as<bool>();
  e.results = e.call(e.subgraphs[pred ? 0 : 1], e.operands.subspan(1));
}

void Cond::jvp(Jvp& j) { jvp_branches(j); }

void Cond::transpose(Transposition& t) { transpose_branches(t); }

void Cond::batch(Batching& b) { batch_branches(b); }

void Switch::infer(Typing& t) {
  if (t.operand(0) != Type{DType::i32, {}}) {
    t.dtype_error(fmt::format("expects an index i32[], got {}", to_string(t.operand(0))));
  }
  infer_branches(t, 1);
}

void Switch::evaluate(Evaluation& e) {
  const auto last = static_cast<int64_t>(e.subgraphs.size()) - 1;
  const int64_t index = std::clamp<int64_t>(*e.operands[0].data_as<int32_t>(), 0, last);
  e.results = e.call(e.subgraphs[static_cast<size_t>(index)], e.operands.subspan(1));
}

void Switch::jvp(Jvp& j) { jvp_branches(j); }

void Switch::transpose(Transposition& t) { transpose_branches(t); }

void Switch::batch(Batching& b) { batch_branches(b); }

}  // namespace calque::primitives
