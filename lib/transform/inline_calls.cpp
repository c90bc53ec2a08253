#include "transform/inline_calls.h"

#include "primitives/registry.h"

namespace calque::transform {

using namespace primitives;

namespace {

bool is_call(const Equation& e) {
  switch (e.id()) {
    case id_of<Call>:
    case id_of<Checkpoint>:
    case id_of<CustomJvp>:
    case id_of<CustomVjp>:
      return true;
    default:
      return false;
  }
}

bool has_calls(const Graph& graph) {
  for (const Equation& e : graph.equations()) {
    if (is_call(e)) return true;
    for (const Graph& s : e.subgraphs())
      if (has_calls(s)) return true;
  }
  return false;
}

/// Appends the equations of `from` to `to`; `inputs` are values of `to`. Returns the outputs.
std::vector<Value> append_inlined(Graph& to, const Graph& from, std::span<const Value> inputs) {
  std::vector<Value> map(from.num_values());
  for (size_t i = 0; i < inputs.size(); ++i) map[from.inputs()[i].id()] = inputs[i];
  const auto value = [&](Value v) {
    Value& m = map[v.id()];
    if (!m.valid()) {
      m = from.kind(v) == ValueKind::literal ? to.add_literal(from.literal(v), from.type(v))
                                             : to.add_constant(from.constant(v));
    }
    return m;
  };
  for (const Equation& e : from.equations()) {
    ValueList operands;
    for (Value v : e.operands()) operands.push_back(value(v));
    if (is_call(e)) {
      const std::vector<Value> results = append_inlined(to, e.subgraphs()[0], operands);
      for (size_t i = 0; i < results.size(); ++i) map[e.result(i).id()] = results[i];
      continue;
    }
    std::vector<Graph> subgraphs;
    for (const Graph& s : e.subgraphs()) subgraphs.push_back(inline_calls(s));
    const Equation& copy = to.append(e.definition(), operands, e.attributes(), std::move(subgraphs), e.location());
    for (size_t i = 0; i < e.results().size(); ++i) map[e.result(i).id()] = copy.result(i);
  }
  std::vector<Value> outputs;
  for (Value v : from.outputs()) outputs.push_back(value(v));
  return outputs;
}

}  // namespace

Graph inline_calls(const Graph& graph) {
  if (!has_calls(graph)) return graph;
  Graph to;
  to.set_name(graph.name());
  std::vector<Value> inputs;
  for (Value v : graph.inputs()) inputs.push_back(to.add_input(graph.type(v)));
  to.set_outputs(append_inlined(to, graph, inputs));
  return to;
}

}  // namespace calque::transform
