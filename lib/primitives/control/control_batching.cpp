// Batching of control flow. A cond with a batched predicate becomes a select of both branches, a while with a batched
// condition becomes a loop per element; all other control flow stays one branch or loop over batched values. The set of
// batched carries is a fixpoint.
#include "ir/graph/effects.h"
#include "primitives/control/loop_parts.h"
#include "primitives/core/emit.h"

namespace calque::primitives {
namespace {

/// Executes an equation with an effect once per example, in order, by a scan over the examples. Of several effects, the
/// first is executed for all examples before the second.
void batch_one_by_one(Batching& b);

/// Batches all branches such that they agree on which results are batched.
std::vector<Graph> batched_branches(Batching& b, const std::vector<bool>& inputs, std::vector<bool>& outputs) {
  const std::vector<Graph>& branches = b.equation.subgraphs();
  for (const Graph& g : branches) merge_into(outputs, b.subgraphs.dependent_outputs(g, inputs));
  while (true) {
    const std::vector<bool> before = outputs;
    std::vector<Graph> batched;
    for (const Graph& g : branches) batched.push_back(b.subgraphs.batch(g, inputs, b.size, outputs));
    if (outputs == before) return batched;
  }
}

/// Broadcasts one bool per example to `shape`.
Value broadcast_lanes(const Writer& w, Value lanes, const Shape& shape) {
  std::vector<int64_t> axes;
  for (int64_t d = 0; d < w.shape(lanes).rank(); ++d) axes.push_back(d);
  return w.broadcast(lanes, shape, std::move(axes));
}

/// One bool per example: whether it takes the branch of that number.
Value takes_branch(const Batching& b, size_t branch) {
  const Writer& w = b.writer;
  const Value selector = b.operands[0];
  if (b.equation.id() == id_of<Cond>) return branch == 0 ? selector : w.emit(id_of<Not>, {selector});
  const size_t last = b.equation.subgraphs().size() - 1;
  const Value number = w.splat(static_cast<double>(branch), w.type(selector));
  // The index is clamped: out-of-range indices select the first or the last branch.
  const PrimitiveId relation = branch == 0 ? id_of<Le> : branch == last ? id_of<Ge> : id_of<Eq>;
  return w.emit(relation, {selector, number});
}

/// Runs all branches and selects among their results per example. In a branch that an example does not take, its
/// operands are constants (stop_gradient), so that NaN derivatives of that branch do not reach it.
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
    const Value mine = takes_branch(b, branch);
    std::vector<Value> operands;
    for (size_t i = 0; i < inputs.size(); ++i) {
      const Value x = constants[i].valid() ? b.batched_operand(i + 1) : b.operands[i + 1];
      const bool apart = constants[i].valid();
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
  if (b.batched[0]) return calque::has_effect(b.equation) ? batch_one_by_one(b) : select_branches(b);
  std::vector<bool> outputs(b.equation.results().size());
  std::vector<Graph> branches = batched_branches(b, slice_of(b.batched, 1, b.batched.size() - 1), outputs);
  ValueList operands;
  for (const Value v : b.operands) operands.push_back(v);
  const Equation& e = b.writer.append(b.equation.id(), std::move(operands), b.attributes(), std::move(branches));
  for (size_t i = 0; i < outputs.size(); ++i) b.result(e.result(i), outputs[i]);
}

std::vector<bool> concatenated(std::vector<bool> a, const std::vector<bool>& b, const std::vector<bool>& c) {
  append(a, b);
  append(a, c);
  return a;
}

/// The batched body of a loop. Grows the set of batched carries to a fixpoint and sets `outputs` to the batched
/// outputs.
Graph batched_loop(const Batching& b, const Graph& body, const std::vector<bool>& consts, std::vector<bool>& carry,
                   const std::vector<bool>& xs, std::vector<bool>& outputs) {
  const auto grow = [&] {
    bool grew = false;
    for (size_t i = 0; i < carry.size(); ++i) {
      if (outputs[i] && !carry[i]) carry[i] = grew = true;
    }
    return grew;
  };
  while (true) {
    do {
      outputs = b.subgraphs.dependent_outputs(body, concatenated(consts, carry, xs));
    } while (grow());
    std::copy(carry.begin(), carry.end(), outputs.begin());
    Graph batched = b.subgraphs.batch(body, concatenated(consts, carry, xs), b.size, outputs);
    if (!grow()) return batched;
  }
}

/// Appends the equation with all operands and sub-graphs batched, as the custom rules require.
void batch_all(Batching& b, std::vector<Graph> bodies) {
  ValueList operands;
  for (size_t i = 0; i < b.operands.size(); ++i) operands.push_back(b.batched_operand(i));
  const Equation& e = b.writer.append(b.equation.id(), std::move(operands), b.attributes(), std::move(bodies));
  for (const Value v : e.results()) b.result(v);
}

Graph batch_whole(const Batching& b, const Graph& body) {
  std::vector<bool> outputs(body.outputs().size(), true);
  return b.subgraphs.batch(body, std::vector<bool>(body.inputs().size(), true), b.size, outputs);
}

void batch_one_by_one(Batching& b) {
  const Writer& w = b.writer;
  Graph body;
  ValueList inner, consts, xs;
  for (const bool sliced : {false, true}) {
    for (size_t i = 0; i < b.operands.size(); ++i) {
      if (b.batched[i] == sliced) (sliced ? xs : consts).push_back(b.operands[i]);
    }
  }
  std::vector<Value> of_const, of_x;
  for (size_t i = 0; i < b.operands.size(); ++i) {
    if (!b.batched[i]) of_const.push_back(body.add_input(b.operand_type(i)));
  }
  for (size_t i = 0; i < b.operands.size(); ++i) {
    if (b.batched[i]) of_x.push_back(body.add_input(b.operand_type(i)));
  }
  size_t next_const = 0, next_x = 0;
  for (size_t i = 0; i < b.operands.size(); ++i)
    inner.push_back(b.batched[i] ? of_x[next_x++] : of_const[next_const++]);
  const Equation& one =
      Writer(body, w.location())
          .append(b.equation.id(), std::move(inner), b.attributes(), std::vector<Graph>(b.equation.subgraphs()));
  body.set_outputs(std::vector<Value>(one.results().begin(), one.results().end()));
  ValueList operands = consts;
  for (const Value v : xs) operands.push_back(v);
  const Equation& e = w.append(id_of<Scan>, std::move(operands),
                               {{"carry", int64_t{0}},
                                {"consts", static_cast<int64_t>(consts.size())},
                                {"length", b.size},
                                {"reverse", false},
                                {"unroll", int64_t{1}}},
                               graphs(std::move(body)));
  for (const Value v : e.results()) b.result(v);
}

}  // namespace

void Cond::batch(Batching& b) { batch_branches(b); }
void Switch::batch(Batching& b) { batch_branches(b); }

void Scan::batch(Batching& b) {
  const ScanParts parts(b.equation);
  const Graph& body = b.equation.subgraphs()[0];
  const std::vector<bool> consts = slice_of(b.batched, 0, parts.consts),
                          xs = slice_of(b.batched, parts.first_x(), parts.xs);
  std::vector<bool> carry = slice_of(b.batched, parts.consts, parts.carry), outputs;
  Graph batched = batched_loop(b, body, consts, carry, xs, outputs);
  ValueList operands;
  for (size_t i = 0; i < b.operands.size(); ++i) {
    const bool is_carry = i >= parts.consts && i < parts.first_x();
    if (is_carry) {
      operands.push_back(carry[i - parts.consts] ? b.batched_operand(i) : b.operands[i]);
    } else if (i >= parts.first_x() && b.batched[i]) {
      operands.push_back(b.writer.move_axis(b.operands[i], 0, 1));  // dimension 0: steps, dimension 1: examples
    } else {
      operands.push_back(b.operands[i]);
    }
  }
  const Equation& e = b.writer.append(id_of<Scan>, std::move(operands), b.attributes(), graphs(std::move(batched)));
  for (size_t i = 0; i < outputs.size(); ++i) {
    const bool is_y = i >= parts.carry;
    b.result(is_y && outputs[i] ? b.writer.move_axis(e.result(i), 1, 0) : e.result(i), outputs[i]);
  }
}

void While::batch(Batching& b) {
  const WhileParts parts(b.equation);
  const Graph& condition = b.equation.subgraphs()[0];
  const Graph& body = b.equation.subgraphs()[1];
  const std::vector<bool> cond_consts = slice_of(b.batched, 0, parts.cond_consts),
                          body_consts = slice_of(b.batched, parts.cond_consts, parts.body_consts);
  std::vector<bool> carry = slice_of(b.batched, parts.first_carry(), parts.carry), outputs;
  const bool has_lanes = condition.shape(condition.outputs()[0]).rank() > 0;
  std::vector<bool> predicate(1);
  Graph batched = batched_loop(b, body, body_consts, carry, {}, outputs);
  predicate = b.subgraphs.dependent_outputs(condition, concatenated(cond_consts, carry, {}));
  // A condition with a value per element requires carries with the same leading dimensions.
  const size_t grown = count_true(carry, 0, carry.size());
  if (has_lanes && grown > 0) predicate = {true};
  if (predicate[0] && !has_lanes && calque::has_effect(b.equation)) return batch_one_by_one(b);
  if (predicate[0] && grown < carry.size()) {
    carry.assign(carry.size(), true);
    batched = batched_loop(b, body, body_consts, carry, {}, outputs);
  }
  Graph batched_condition = b.subgraphs.batch(condition, concatenated(cond_consts, carry, {}), b.size, predicate);
  ValueList operands;
  for (size_t i = 0; i < b.operands.size(); ++i) {
    const bool grown = i >= parts.first_carry() && carry[i - parts.first_carry()];
    operands.push_back(grown ? b.batched_operand(i) : b.operands[i]);
  }
  const Equation& e = b.writer.append(id_of<While>, std::move(operands), b.attributes(),
                                      graphs(std::move(batched_condition), std::move(batched)));
  for (size_t i = 0; i < parts.carry; ++i) b.result(e.result(i), carry[i]);
}

void Call::batch(Batching& b) {
  std::vector<bool> outputs(b.equation.results().size());
  std::vector<Graph> bodies = batched_branches(b, b.batched, outputs);
  ValueList operands;
  for (const Value v : b.operands) operands.push_back(v);
  const Equation& e = b.writer.append(b.equation.id(), std::move(operands), b.attributes(), std::move(bodies));
  for (size_t i = 0; i < outputs.size(); ++i) b.result(e.result(i), outputs[i]);
}

void Checkpoint::batch(Batching& b) { Call::batch(b); }

void CustomJvp::batch(Batching& b) {
  const std::vector<Graph>& bodies = b.equation.subgraphs();
  batch_all(b, graphs(batch_whole(b, bodies[0]), batch_whole(b, bodies[1])));
}

void CustomVjp::batch(Batching& b) {
  const std::vector<Graph>& bodies = b.equation.subgraphs();
  std::vector<Graph> batched = graphs(batch_whole(b, bodies[0]), batch_whole(b, bodies[1]));
  batched.push_back(batch_whole(b, bodies[2]));
  batch_all(b, std::move(batched));
}

void CustomLinear::batch(Batching& b) { batch_all(b, graphs(batch_whole(b, b.equation.subgraphs()[0]))); }

void DebugPrint::batch(Batching& b) { batch_one_by_one(b); }
void HostCall::batch(Batching& b) { batch_one_by_one(b); }

}  // namespace calque::primitives
