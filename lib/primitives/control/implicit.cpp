#include "primitives/control/implicit.h"

#include <algorithm>

#include <fmt/format.h>

#include "primitives/control/subgraph_rules.h"
#include "primitives/core/emit.h"

namespace calque::primitives {
namespace {

/// The types of the values x, which are as many as those of the equation.
std::vector<Type> solution_types(const Typing& t, const Graph& equation) {
  const std::vector<Type> results = t.subgraphs()[0].output_types();
  const size_t count = equation.outputs().size();
  if (results.size() < count) {
    t.rule_error(fmt::format("solve gives {} values, expects {}", results.size(), count));
  }
  return {results.begin(), results.begin() + static_cast<std::ptrdiff_t>(count)};
}

void require_inexact(const Typing& t, const std::vector<Type>& solution) {
  for (const Type& type : solution) {
    if (!is_floating(type.dtype) && !is_complex(type.dtype)) {
      t.dtype_error(fmt::format("solves for floating or complex values, got {}", to_string(type)));
    }
  }
}

/// `count` times true, then `rest`.
std::vector<bool> led_by(size_t count, const std::vector<bool>& rest) {
  std::vector<bool> mask(count, true);
  append(mask, rest);
  return mask;
}

/// The sub-graph for a batch, all of whose outputs have it.
Graph batch_outputs(const Batching& b, const Graph& body, const std::vector<bool>& inputs) {
  std::vector<bool> outputs(body.outputs().size(), true);
  return b.subgraphs.batch(body, inputs, b.size, outputs);
}

void take_batched(Batching& b, ValueList operands, std::vector<Graph> bodies) {
  const Equation& e = b.writer.append(b.equation.id(), std::move(operands), b.attributes(), std::move(bodies));
  for (const Value v : e.results()) b.result(v);
}

/// The tangents of a graph's outputs, by those of the operands that its last inputs are; invalid where they are zero.
/// `first` are the other inputs, which have none.
std::vector<Value> tangents_by_operands(const Jvp& j, const Graph& graph, std::span<const Value> first,
                                        std::span<const Value> operands, const std::vector<bool>& active,
                                        bool operands_first) {
  const std::vector<bool> still(first.size());
  std::vector<bool> by = operands_first ? active : still;
  append(by, operands_first ? still : active);
  const std::vector<bool> wanted = j.subgraphs.active_outputs(graph, by);
  std::vector<Value> tangents(wanted.size());
  if (std::find(wanted.begin(), wanted.end(), true) == wanted.end()) return tangents;
  std::vector<Value> inputs(operands_first ? operands.begin() : first.begin(),
                            operands_first ? operands.end() : first.end());
  if (operands_first) {
    inputs.insert(inputs.end(), first.begin(), first.end());
  } else {
    inputs.insert(inputs.end(), operands.begin(), operands.end());
  }
  for (size_t i = 0; i < active.size(); ++i) {
    if (active[i]) inputs.push_back(j.tangents[i]);
  }
  const std::vector<Value> outputs = j.writer.inline_graph(j.subgraphs.jvp(graph, by, wanted), inputs);
  size_t next = wanted.size();
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (wanted[i]) tangents[i] = outputs[next++];
  }
  return tangents;
}

}  // namespace

void CustomRoot::infer(Typing& t) {
  infer_call(t);
  const Graph& f = t.subgraphs()[1];
  const std::vector<Type> operands = operand_types(t), solution = solution_types(t, f);
  require_inexact(t, solution);
  t.match("input of f", concatenated(solution, operands), f.input_types());
  t.match("result of f", solution, f.output_types());
  t.match("input of tangent_solve", concatenated(concatenated(solution, solution), operands),
          t.subgraphs()[2].input_types());
  t.match("result of tangent_solve", solution, t.subgraphs()[2].output_types());
}

void CustomRoot::evaluate(Evaluation& e) { call_body(e); }

void CustomRoot::jvp(Jvp& j) {
  const Graph& f = j.equation.subgraphs()[1];
  const std::span<const Value> x = std::span<const Value>(j.results).first(f.outputs().size());
  const std::vector<Value> change = tangents_by_operands(j, f, x, j.primals, j.active_from(0), false);
  if (std::none_of(change.begin(), change.end(), [](Value v) { return v.valid(); })) return;
  std::vector<Value> inputs;
  for (size_t i = 0; i < x.size(); ++i) {
    inputs.push_back(change[i].valid() ? j.writer.emit(id_of<Neg>, {change[i]}) : j.writer.zeros(j.result_type(i)));
  }
  inputs.insert(inputs.end(), x.begin(), x.end());
  inputs.insert(inputs.end(), j.primals.begin(), j.primals.end());
  const std::vector<Value> tangents = j.writer.inline_graph(j.equation.subgraphs()[2], inputs);
  for (size_t i = 0; i < x.size(); ++i) j.result_tangents[i] = tangents[i];
}

void CustomRoot::batch(Batching& b) {
  const std::vector<Graph>& bodies = b.equation.subgraphs();
  const size_t count = bodies[1].outputs().size();
  std::vector<Graph> batched =
      graphs(batch_outputs(b, bodies[0], b.batched), batch_outputs(b, bodies[1], led_by(count, b.batched)));
  batched.push_back(batch_outputs(b, bodies[2], led_by(2 * count, b.batched)));
  ValueList operands;
  for (const Value v : b.operands) operands.push_back(v);
  take_batched(b, std::move(operands), std::move(batched));
}

void LinearSolve::infer(Typing& t) {
  infer_call(t);
  const std::span<const Graph> bodies = t.subgraphs();
  const std::vector<Type> x = solution_types(t, bodies[1]), b = bodies[1].output_types(), operands = operand_types(t);
  require_inexact(t, x);
  if (bodies.size() == 3) t.rule_error("has vecmat without transpose_solve");
  if (operands.size() < b.size()) {
    t.rule_error(fmt::format("matvec gives {} values, expects at most the {} operands", b.size(), operands.size()));
  }
  const std::vector<Type> constants(operands.begin(), operands.end() - static_cast<std::ptrdiff_t>(b.size()));
  t.match("operand b", b, std::span<const Type>(operands).subspan(constants.size()));
  t.match("input of matvec", concatenated(constants, x), bodies[1].input_types());
  if (bodies.size() < 4) return;
  t.match("input of vecmat", concatenated(constants, b), bodies[2].input_types());
  t.match("result of vecmat", x, bodies[2].output_types());
  t.match("input of transpose_solve", concatenated(constants, x), bodies[3].input_types());
  const std::vector<Type> transposed = bodies[3].output_types();
  t.match("result of transpose_solve", b,
          std::span<const Type>(transposed).first(std::min(b.size(), transposed.size())));
}

void LinearSolve::evaluate(Evaluation& e) { call_body(e); }

void LinearSolve::jvp(Jvp& j) {
  const Graph& matvec = j.equation.subgraphs()[1];
  const size_t count = matvec.outputs().size(), constants = j.primals.size() - count;
  std::vector<bool> active = j.active_from(0);
  active.resize(constants);
  const std::span<const Value> x = std::span<const Value>(j.results).first(count);
  const std::vector<Value> of_matrix = tangents_by_operands(j, matvec, x, j.primals.first(constants), active, true);
  ValueList operands;
  append_primals(j, operands, 0, constants);
  bool any = false;
  for (size_t i = 0; i < count; ++i) {
    const Value db = j.tangents[constants + i], dax = of_matrix[i];
    any = any || db.valid() || dax.valid();
    if (!dax.valid()) {
      operands.push_back(j.tangent_or_zero(constants + i));
    } else {
      operands.push_back(db.valid() ? j.writer.emit(id_of<Sub>, {db, dax}) : j.writer.emit(id_of<Neg>, {dax}));
    }
  }
  if (!any) return;
  const Equation& e =
      j.writer.append(j.equation.id(), std::move(operands), j.attributes(), std::vector<Graph>(j.equation.subgraphs()));
  for (size_t i = 0; i < count; ++i) j.result_tangents[i] = e.result(i);
}

void LinearSolve::transpose(Transposition& t) {
  const std::vector<Graph>& bodies = t.equation.subgraphs();
  const size_t count = bodies[1].outputs().size(), constants = t.operands.size() - count;
  for (size_t i = 0; i < constants; ++i) {
    if (t.linear(i)) refuse(t.equation, NotLinear::reason);
  }
  if (bodies.size() < 4) {
    refuse(t.equation,
           "was given no transpose_solve, which reverse mode needs; give it, or say that the matrix is symmetric");
  }
  ValueList operands;
  for (size_t i = 0; i < constants; ++i) operands.push_back(t.operands[i]);
  for (size_t i = 0; i < count; ++i) operands.push_back(t.cotangent_or_zero(i));
  const Equation& e = t.writer.append(t.equation.id(), std::move(operands), t.attributes(),
                                      std::vector<Graph>{bodies[3], bodies[2], bodies[1], bodies[0]});
  for (size_t i = 0; i < count; ++i) {
    if (t.linear(constants + i)) t.add(constants + i, e.result(i));
  }
}

void LinearSolve::batch(Batching& b) {
  const std::vector<Graph>& bodies = b.equation.subgraphs();
  const size_t count = bodies[1].outputs().size(), constants = b.operands.size() - count;
  ValueList operands;
  std::vector<bool> inputs;
  for (size_t i = 0; i < b.operands.size(); ++i) {
    inputs.push_back(i >= constants || b.batched[i]);
    operands.push_back(inputs[i] ? b.batched_operand(i) : b.operands[i]);
  }
  std::vector<Graph> batched;
  for (const Graph& body : bodies) batched.push_back(batch_outputs(b, body, inputs));
  take_batched(b, std::move(operands), std::move(batched));
}

}  // namespace calque::primitives
