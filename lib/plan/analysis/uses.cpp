#include "plan/analysis/uses.h"

namespace calque::plan {

Uses::Uses(const Graph& graph, const EquationOrder& order)
    : counts(graph.num_values(), 0), users(graph.num_values()), is_output(graph.num_values(), false) {
  for (const Value v : graph.outputs()) is_output[v.id()] = true;
  for (size_t i = 0; i < order.size(); ++i) {
    const Equation& e = order[i];
    for (const Value v : e.operands()) {
      ++counts[v.id()];
      if (users[v.id()].empty() || users[v.id()].back() != &e) users[v.id()].push_back(&e);
    }
  }
}

}  // namespace calque::plan
