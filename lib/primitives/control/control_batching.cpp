// Batching of control flow: a branch that depends on the example becomes a select of both, a loop whose condition does
// becomes a loop for each element; all else stays one branch or loop of batched values. Batches of carries reach a
// fixpoint.
#include "ir/graph/effects.h"
#include "primitives/control/loop_parts.h"
#include "primitives/core/emit.h"

namespace calque::primitives {
namespace {

/// Equations with an effect happen once for each example, one after the other: a scan over the examples. Of several
/// effects, the first happens for all examples before the next does.
void batch_one_by_one(Batching& b);

/// Every branch batches the same results.
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

/// A bool of each example at each element of `shape`.
Value spread_over(const Writer& w, Value lanes, const Shape& shape) {
  std::vector<int64_t> axes;
  for (int64_t d = 0; d < w.shape(lanes).rank(); ++d) axes.push_back(d);
  return w.broadcast(lanes, shape, std::move(axes));
}

/// Which examples take the branch of that number.
Value takes_branch(const Batching& b, size_t branch) {
  const Writer& w = b.writer;
  const Value selector = b.operands[0];
  if (b.equation.id() == id_of<Cond>) return branch == 0 ? selector : w.emit(id_of<Not>, {selector});
  const size_t last = b.equation.subgraphs().size() - 1;
  const Value number = w.splat(static_cast<double>(branch), w.type(selector));
  // The index is clamped: the first and the last branch take what lies outside.
  const PrimitiveId relation = branch == 0 ? id_of<Le> : branch == last ? id_of<Ge> : id_of<Eq>;
  return w.emit(relation, {selector, number});
}

/// All branches run; the selector, one of each example, chooses among their results. An example that does not take a
/// branch is a constant to it, so that no NaN of a derivative there reaches it.
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
      operands.push_back(apart ? w.select(spread_over(w, mine, w.shape(x)), x, constants[i]) : x);
    }
    std::vector<bool> outputs(b.equation.results().size(), true);
    const std::vector<Value> its =
        w.inline_graph(b.subgraphs.batch(branches[branch], inputs, b.size, outputs), operands);
    if (chosen.empty()) {
      chosen = its;
      continue;
    }
    for (size_t r = 0; r < its.size(); ++r) {
      chosen[r] = w.select(spread_over(w, mine, w.shape(its[r])), its[r], chosen[r]);
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

std::vector<bool> joined(std::vector<bool> a, const std::vector<bool>& b, const std::vector<bool>& c) {
  append(a, b);
  append(a, c);
  return a;
}

/// The batched body of a loop whose carry grows until the body asks for no more; leaves the outputs that are batched.
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
      outputs = b.subgraphs.dependent_outputs(body, joined(consts, carry, xs));
    } while (grow());
    std::copy(carry.begin(), carry.end(), outputs.begin());
    Graph batched = b.subgraphs.batch(body, joined(consts, carry, xs), b.size, outputs);
    if (!grow()) return batched;
  }
}

/// Sub-graphs and operands batched alike, as call, checkpoint and the custom rules have them.
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
      operands.push_back(b.writer.move_axis(b.operands[i], 0, 1));  // steps first, examples next
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
  predicate = b.subgraphs.dependent_outputs(condition, joined(cond_consts, carry, {}));
  // A condition that has a value for each element wants carries of the same leading dimensions.
  const size_t grown = count_true(carry, 0, carry.size());
  if (has_lanes && grown > 0) predicate = {true};
  if (predicate[0] && !has_lanes && calque::has_effect(b.equation)) return batch_one_by_one(b);
  if (predicate[0] && grown < carry.size()) {
    carry.assign(carry.size(), true);
    batched = batched_loop(b, body, body_consts, carry, {}, outputs);
  }
  Graph batched_condition = b.subgraphs.batch(condition, joined(cond_consts, carry, {}), b.size, predicate);
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
