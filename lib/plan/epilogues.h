#pragma once
// What is computed of a product's elements while they are in registers.
#include <unordered_map>

#include "plan/plan.h"

namespace calque::plan {

/// What the planner knows of a graph.
struct Surroundings {
  const Graph& graph;
  const std::vector<const Equation*>& order;
  const std::vector<Role>& roles;  ///< by position in `order`
  const std::unordered_map<const Equation*, size_t>& position;
  const std::vector<std::vector<const Equation*>>& users;  ///< by value id
  const std::vector<bool>& is_output;                      ///< by value id
  const std::vector<bool>& in_memory;                      ///< by value id
  const std::vector<Value>& shares;                        ///< by value id
};

/// The kernel of a tiled product.
struct Epilogue {
  /// Values in memory, each of whose elements follows from the product's element at the same row-major position and
  /// from what is in memory before the first of them is computed. In the order of their equations; without the
  /// product's own result.
  std::vector<Value> roots;
  /// Something else needs the product's result.
  bool result_in_memory = true;
};

/// `claimed`, by value id: roots of other products' kernels.
Epilogue find_epilogue(const Surroundings& s, const Equation& product, const std::vector<bool>& claimed);

}  // namespace calque::plan
