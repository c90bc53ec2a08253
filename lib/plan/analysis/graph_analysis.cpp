#include "plan/analysis/graph_analysis.h"

#include <algorithm>

#include "plan/analysis/equations.h"

namespace calque::plan {
namespace {

std::vector<Product> products_of(const Graph& graph, const EquationOrder& order) {
  std::vector<Product> products(order.size(), Product::dot_products);
  for (size_t i = 0; i < order.size(); ++i)
    if (order.kind(i) == FusionKind::contraction) products[i] = product_of(graph, order[i]);
  return products;
}

std::vector<int> reduction_depths(const Graph& graph, const EquationOrder& order) {
  std::vector<int> depth(graph.num_values(), 0);
  for (size_t i = 0; i < order.size(); ++i) {
    int deepest = 0;
    for (const Value v : order[i].operands()) deepest = std::max(deepest, depth[v.id()]);
    for (const Value v : order[i].results()) depth[v.id()] = deepest + (order.kind(i) == FusionKind::reduction);
  }
  return depth;
}

std::vector<bool> values_compared_with_extremum(const Graph& graph, const EquationOrder& order, const Uses& uses) {
  std::vector<bool> compared(graph.num_values(), false);
  for (size_t i = 0; i < order.size(); ++i) {
    for (const Value v : order[i].results()) {
      const auto& users = uses.users[v.id()];
      compared[v.id()] = std::any_of(users.begin(), users.end(), [](const Equation* e) { return compares(*e); }) &&
                         std::any_of(users.begin(), users.end(), [](const Equation* e) { return takes_extremum(*e); });
    }
  }
  return compared;
}

}  // namespace

GraphAnalysis::GraphAnalysis(const Graph& g, const InputMemory& inputs)
    : graph(g),
      in_place(g, inputs),
      order(g, in_place),
      uses_(g, order),
      products_(products_of(g, order)),
      reduction_depth_(reduction_depths(g, order)),
      compared_with_extremum_(values_compared_with_extremum(g, order, uses_)) {}

}  // namespace calque::plan
