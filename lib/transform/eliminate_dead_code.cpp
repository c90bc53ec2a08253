// One walk backwards finds what is needed, one forwards copies it.
#include "transform/eliminate_dead_code.h"

#include "ir/effects.h"

namespace calque::transform {
namespace {

/// The equations that are needed, in order.
std::vector<const Equation*> needed_equations(const Graph& graph) {
  std::vector<const Equation*> equations;
  equations.reserve(graph.num_equations());
  for (const Equation& e : graph.equations()) equations.push_back(&e);
  std::vector<bool> needed(graph.num_values(), false);
  for (const Value v : graph.outputs()) needed[v.id()] = true;
  size_t kept = equations.size();
  for (size_t i = equations.size(); i-- > 0;) {
    const Equation& e = *equations[i];
    const bool used = std::any_of(e.results().begin(), e.results().end(), [&](Value v) { return needed[v.id()]; });
    if (!used && !has_effect(e)) continue;
    for (const Value v : e.operands()) needed[v.id()] = true;
    equations[--kept] = &e;
  }
  equations.erase(equations.begin(), equations.begin() + static_cast<std::ptrdiff_t>(kept));
  return equations;
}

}  // namespace

Graph eliminate_dead_code(const Graph& graph) {
  Graph out;
  out.set_name(graph.name());
  std::vector<Value> map(graph.num_values());
  for (const Value v : graph.inputs()) map[v.id()] = out.add_input(Type(graph.type(v)));
  const auto value = [&](Value v) {
    Value& to = map[v.id()];
    if (!to.valid()) to = out.add_copy(graph, v);
    return to;
  };
  for (const Equation* e : needed_equations(graph)) {
    ValueList operands;
    operands.reserve(e->operands().size());
    for (const Value v : e->operands()) operands.push_back(value(v));
    std::vector<Graph> subgraphs;
    subgraphs.reserve(e->subgraphs().size());
    for (const Graph& g : e->subgraphs()) subgraphs.push_back(eliminate_dead_code(g));
    const Equation& copy = out.append_copy(graph, *e, std::move(operands), std::move(subgraphs));
    for (size_t i = 0; i < e->results().size(); ++i) map[e->result(i).id()] = copy.result(i);
  }
  std::vector<Value> outputs;
  outputs.reserve(graph.outputs().size());
  for (const Value v : graph.outputs()) outputs.push_back(value(v));
  out.set_outputs(std::move(outputs));
  return out;
}

}  // namespace calque::transform
