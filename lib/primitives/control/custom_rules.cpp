#include "primitives/control/custom_rules.h"

#include <algorithm>

#include <fmt/format.h>

#include "primitives/control/subgraph_rules.h"
#include "primitives/core/emit.h"

namespace calque::primitives {
namespace {

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

}  // namespace

void CustomJvp::infer(Typing& t) {
  infer_call(t);
  const std::vector<Type> primals = operand_types(t);
  const std::vector<Type> results = t.subgraphs()[0].output_types();
  t.match("input of jvp", concatenated(primals, primals), t.subgraphs()[1].input_types());
  t.match("result of jvp", concatenated(results, results), t.subgraphs()[1].output_types());
}

void CustomJvp::evaluate(Evaluation& e) { call_body(e); }

/// Inlines the custom rule instead of the body. Tangents of integers are zeros of their type.
void CustomJvp::jvp(Jvp& j) {
  std::vector<Value> inputs(j.primals.begin(), j.primals.end());
  for (size_t i = 0; i < j.primals.size(); ++i) inputs.push_back(j.tangent_or_zero(i));
  const std::vector<Value> outputs = j.writer.inline_graph(j.equation.subgraphs()[1], inputs);
  const size_t results = j.equation.results().size();
  for (size_t i = 0; i < results; ++i) {
    j.results.push_back(outputs[i]);
    const DType dtype = j.result_type(i).dtype;
    if (is_floating(dtype) || is_complex(dtype)) j.result_tangents[i] = outputs[results + i];
  }
}

void CustomJvp::batch(Batching& b) {
  const std::vector<Graph>& bodies = b.equation.subgraphs();
  batch_all(b, graphs(batch_whole(b, bodies[0]), batch_whole(b, bodies[1])));
}

void CustomVjp::infer(Typing& t) {
  infer_call(t);
  const Graph& forward = t.subgraphs()[1];
  const Graph& backward = t.subgraphs()[2];
  const std::vector<Type> operands = operand_types(t);
  const std::vector<Type> results = t.subgraphs()[0].output_types();
  t.match("input of fwd", operands, forward.input_types());
  const std::vector<Type> outputs = forward.output_types();
  if (outputs.size() < results.size()) {
    t.rule_error(
        fmt::format("fwd gives {} values, expects {} results before the residuals", outputs.size(), results.size()));
  }
  t.match("result of fwd", results, std::span<const Type>(outputs).first(results.size()));
  const std::vector<Type> residuals(outputs.begin() + static_cast<std::ptrdiff_t>(results.size()), outputs.end());
  t.match("input of bwd", concatenated(residuals, results), backward.input_types());
  t.match("result of bwd", operands, backward.output_types());
}

void CustomVjp::evaluate(Evaluation& e) { call_body(e); }

/// Inlines fwd instead of the body. The tangents become operands of custom_linear, which reverse mode transposes.
void CustomVjp::jvp(Jvp& j) {
  const std::vector<Value> inputs(j.primals.begin(), j.primals.end());
  const std::vector<Value> outputs = j.writer.inline_graph(j.equation.subgraphs()[1], inputs);
  const size_t results = j.equation.results().size();
  ValueList operands;
  for (size_t i = results; i < outputs.size(); ++i) operands.push_back(outputs[i]);
  const size_t residuals = operands.size();
  for (size_t i = 0; i < j.primals.size(); ++i) operands.push_back(j.tangent_or_zero(i));
  const Equation& e =
      j.writer.append(id_of<CustomLinear>, std::move(operands), {{"residuals", static_cast<int64_t>(residuals)}},
                      graphs(Graph(j.equation.subgraphs()[2])));
  for (size_t i = 0; i < results; ++i) {
    j.results.push_back(outputs[i]);
    const DType dtype = j.result_type(i).dtype;
    if (is_floating(dtype) || is_complex(dtype)) j.result_tangents[i] = e.result(i);
  }
}

void CustomVjp::batch(Batching& b) {
  const std::vector<Graph>& bodies = b.equation.subgraphs();
  std::vector<Graph> batched = graphs(batch_whole(b, bodies[0]), batch_whole(b, bodies[1]));
  batched.push_back(batch_whole(b, bodies[2]));
  batch_all(b, std::move(batched));
}

void CustomLinear::infer(Typing& t) {
  const Graph& backward = t.subgraphs()[0];
  const int64_t residuals = t.integer("residuals");
  const std::vector<Type> inputs = backward.input_types();
  const std::vector<Type> outputs = backward.output_types();
  if (residuals < 0 || static_cast<size_t>(residuals) > std::min(t.num_operands(), inputs.size())) {
    t.rule_error("has more residuals than operands or inputs of bwd");
  }
  const auto count = static_cast<size_t>(residuals);
  std::vector<Type> kept, tangents;
  for (size_t i = 0; i < t.num_operands(); ++i) (i < count ? kept : tangents).push_back(t.operand(i));
  t.match("residual", kept, std::span<const Type>(inputs).first(count));
  t.match("result of bwd", tangents, outputs);
  for (size_t i = count; i < inputs.size(); ++i) t.result(inputs[i]);
}

void CustomLinear::evaluate(Evaluation&) { throw GradError("custom_linear: " + std::string(reason)); }

/// Inlines the user's rule on the residuals and cotangents.
void CustomLinear::transpose(Transposition& t) {
  const auto residuals = static_cast<size_t>(t.attributes().integer("residuals"));
  std::vector<Value> inputs;
  for (size_t i = 0; i < residuals; ++i) {
    if (t.linear(i)) refuse(t.equation, reason);
    inputs.push_back(t.operands[i]);
  }
  for (size_t i = 0; i < t.cotangents.size(); ++i) inputs.push_back(t.cotangent_or_zero(i));
  const std::vector<Value> outputs = t.writer.inline_graph(t.equation.subgraphs()[0], inputs);
  for (size_t i = residuals; i < t.operands.size(); ++i) {
    if (t.linear(i)) t.add(i, outputs[i - residuals]);
  }
}

void CustomLinear::batch(Batching& b) { batch_all(b, graphs(batch_whole(b, b.equation.subgraphs()[0]))); }

void Captured::infer(Typing& t) { t.result(t.operand(0)); }

void Captured::evaluate(Evaluation& e) { e.results.push_back(e.operands[0]); }

Scalar Captured::lower(Lowering& l, const Equation&, size_t, std::span<const Scalar> index) {
  return l.operand(0, index);
}

void Captured::jvp(Jvp& j) {
  const std::string line = to_string(j.equation.location());
  if (const auto& reason = j.attributes().get<std::string>("value"); j.attributes().get<std::string>("by").empty()) {
    throw GradError(reason + (line.empty() ? "" : " (" + line + ")"));
  }
  throw GradError(
      fmt::format("{}: the rule has no derivative by {}, which it or its function captures; pass it as an argument of "
                  "the function, "
                  "or capture stop_gradient of it{}",
                  j.attributes().get<std::string>("by"), j.attributes().get<std::string>("value"),
                  line.empty() ? "" : " (" + line + ")"));
}

}  // namespace calque::primitives
