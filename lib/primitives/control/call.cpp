#include "primitives/control/call.h"

#include "primitives/control/subgraph_rules.h"
#include "primitives/core/emit.h"

namespace calque::primitives {

void Call::infer(Typing& t) { infer_call(t); }

void Call::evaluate(Evaluation& e) { call_body(e); }

void Call::jvp(Jvp& j) {
  const Graph& body = j.equation.subgraphs()[0];
  const std::vector<bool> active = j.active_from(0);
  const std::vector<bool> wanted = j.subgraphs.active_outputs(body, active);
  ValueList operands;
  append_primals(j, operands, 0, j.primals.size());
  append_tangents(j, operands, 0, active);
  take_results(j,
               j.writer.append(j.equation.id(), std::move(operands), j.attributes(),
                               graphs(j.subgraphs.jvp(body, active, wanted))),
               wanted);
}

void Call::batch(Batching& b) {
  std::vector<bool> outputs(b.equation.results().size());
  std::vector<Graph> bodies = batched_branches(b, b.batched, outputs);
  ValueList operands;
  for (const Value v : b.operands) operands.push_back(v);
  const Equation& e = b.writer.append(b.equation.id(), std::move(operands), b.attributes(), std::move(bodies));
  for (size_t i = 0; i < outputs.size(); ++i) b.result(e.result(i), outputs[i]);
}

void Checkpoint::infer(Typing& t) { infer_call(t); }

void Checkpoint::evaluate(Evaluation& e) { call_body(e); }

/// A checkpoint of primals and tangents: both are rematerialized in reverse mode.
void Checkpoint::jvp(Jvp& j) { Call::jvp(j); }

/// Rematerializes the body when its cotangents are known, so that none of its values are residuals. Optimization
/// barriers on the operands prevent CSE with the first computation.
void Checkpoint::transpose(Transposition& t) {
  const Graph& body = t.equation.subgraphs()[0];
  const std::vector<bool> linear = linear_mask(t, 0, t.operands.size()), given = given_mask(t);
  ValueList cotangents;
  for (const Value v : t.cotangents) {
    if (v.valid()) cotangents.push_back(v);
  }
  std::vector<Value> inputs;
  for (const Value v : t.operands) {
    if (!v.valid()) continue;
    ValueList tied{v};
    for (const Value ct : cotangents) tied.push_back(ct);
    inputs.push_back(t.writer.graph().is_literal(v) ? v : t.writer.emit(id_of<OptimizationBarrier>, std::move(tied)));
  }
  inputs.insert(inputs.end(), cotangents.begin(), cotangents.end());
  const std::vector<Value> outputs = t.writer.inline_graph(t.subgraphs.transpose(body, linear, given), inputs);
  size_t next = 0;
  for (size_t i = 0; i < linear.size(); ++i) {
    if (linear[i]) t.add(i, outputs[next++]);
  }
}

void Checkpoint::batch(Batching& b) { Call::batch(b); }

}  // namespace calque::primitives
