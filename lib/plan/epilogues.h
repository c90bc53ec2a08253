#pragma once
// What is computed from a product's elements while they are in registers.
#include <unordered_map>

#include "plan/plan.h"

namespace calque::plan {

/// What the planner knows about a graph.
struct EpilogueContext {
  const Graph& graph;
  const std::vector<const Equation*>& order;
  const std::vector<FusionKind>& fusion_kinds;  ///< by position in `order`
  const std::unordered_map<const Equation*, size_t>& position;
  const std::vector<std::vector<const Equation*>>& users;  ///< by value id
  const std::vector<bool>& is_output;                      ///< by value id
  const std::vector<bool>& materialized;                   ///< by value id
  const std::vector<Value>& shares;                        ///< by value id
};

/// The kernel of a tiled product.
struct Epilogue {
  /// Materialized values, each element of which is a function of the product's element at the same row-major position
  /// and of values that are in memory before the first root is computed. In the order of their equations; without the
  /// product's own result.
  std::vector<Value> roots;
  /// Other equations need the product's result.
  bool result_materialized = true;
};

/// `claimed`, by value id: roots of other products' kernels.
Epilogue find_epilogue(const EpilogueContext& s, const Equation& product, const std::vector<bool>& claimed);

}  // namespace calque::plan
