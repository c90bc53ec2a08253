#include "ir/graph/rearrange.h"

#include "ir/graph/graph_access.h"

namespace calque {

void permute_inputs(Graph& graph, std::span<const size_t> inputs) {
  const std::vector<Value> old = graph.inputs();
  std::vector<Value>& now = detail::GraphAccess::mutable_inputs(graph);
  for (size_t i = 0; i < inputs.size(); ++i) {
    now[i] = old[inputs[i]];
    detail::GraphAccess::mutable_table_index(graph, now[i]) = static_cast<uint32_t>(i);
  }
}

void select_outputs(Graph& graph, std::span<const size_t> outputs) {
  std::vector<Value> now;
  now.reserve(outputs.size());
  for (const size_t i : outputs) now.push_back(graph.outputs()[i]);
  graph.set_outputs(std::move(now));
}

}  // namespace calque
