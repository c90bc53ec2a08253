#pragma once
// What is computed from a product's elements while they are in registers.
#include <vector>

#include "plan/analysis/graph_analysis.h"
#include "plan/materialized_values.h"

namespace calque::plan {

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
Epilogue find_epilogue(const GraphAnalysis& analysis, const MaterializedValues& values, const Equation& product,
                       const std::vector<bool>& claimed);

}  // namespace calque::plan
