// Depth-first traversal with an explicit stack: a recursion over deep graphs would overflow the machine's stack.
#include "ir/graph/canonical.h"

#include <utility>

#include "ir/graph/effects.h"
#include "ir/graph/graph_access.h"

namespace calque {

using detail::GraphAccess;

bool has_effect(const Equation& equation) {
  if (equation.definition().has_effect) return true;
  for (const Graph& g : equation.subgraphs()) {
    if (has_effect(g)) return true;
  }
  return false;
}

bool has_effect(const Graph& graph) {
  for (const Equation& e : graph.equations()) {
    if (has_effect(e)) return true;
  }
  return false;
}

std::vector<const Equation*> canonical_order(const Graph& graph) {
  struct Visit {
    const Equation* equation;
    size_t next_operand;
  };
  std::vector<const Equation*> order;
  order.reserve(graph.num_equations());
  std::vector<bool> entered(GraphAccess::num_stored(graph), false);
  std::vector<Visit> stack;
  const auto enter = [&](const Equation* e) {
    if (e == nullptr || entered[GraphAccess::index(*e)]) return;
    entered[GraphAccess::index(*e)] = true;
    stack.push_back({e, 0});
  };
  const auto visit = [&](const Equation* root) {
    enter(root);
    while (!stack.empty()) {
      Visit& top = stack.back();
      if (top.next_operand < top.equation->operands().size()) {
        enter(graph.definition(top.equation->operand(top.next_operand++)));
      } else {
        order.push_back(top.equation);
        stack.pop_back();
      }
    }
  };
  for (const Equation& e : graph.equations()) {
    if (has_effect(e)) visit(&e);
  }
  for (const Value v : graph.outputs()) visit(graph.definition(v));
  return order;
}

void order_canonically(Graph& graph) {
  const std::vector<const Equation*> order = canonical_order(graph);
  bool as_it_is = order.size() == graph.num_equations();
  size_t next = 0;
  for (const Equation& e : std::as_const(graph).equations()) {
    if (!as_it_is) break;
    as_it_is = order[next++] == &e;
  }
  if (!as_it_is) {
    std::vector<uint32_t> indices;
    indices.reserve(order.size());
    for (const Equation* e : order) indices.push_back(GraphAccess::index(*e));
    GraphAccess::reorder(graph, indices);
  }
  for (Equation& e : graph.equations()) {
    if (std::as_const(e).subgraphs().empty()) continue;
    for (Graph& g : GraphAccess::mutable_subgraphs(e)) order_canonically(g);
  }
}

Graph canonicalize(const Graph& graph) {
  Graph out;
  out.set_name(graph.name());
  std::vector<Value> renamed(graph.num_values());
  for (const Value v : graph.inputs()) renamed[v.id()] = out.add_input(Type(graph.type(v)));
  const auto rename = [&](Value v) {
    Value& to = renamed[v.id()];
    if (!to.valid()) to = out.add_copy(graph, v);
    return to;
  };
  for (const Equation* e : canonical_order(graph)) {
    ValueList operands;
    operands.reserve(e->operands().size());
    for (const Value v : e->operands()) operands.push_back(rename(v));
    std::vector<Graph> subgraphs;
    subgraphs.reserve(e->subgraphs().size());
    for (const Graph& g : e->subgraphs()) subgraphs.push_back(canonicalize(g));
    const Equation& copy = out.append_copy(graph, *e, std::move(operands), std::move(subgraphs));
    for (size_t i = 0; i < e->results().size(); ++i) renamed[e->result(i).id()] = copy.result(i);
  }
  std::vector<Value> outputs;
  outputs.reserve(graph.outputs().size());
  for (const Value v : graph.outputs()) outputs.push_back(rename(v));
  out.set_outputs(std::move(outputs));
  return out;
}

}  // namespace calque
