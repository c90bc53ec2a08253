#pragma once
#include <string_view>

#include "calque/ir/graph.h"

namespace calque::detail {

/// A derivative in two parts: the known part, which does not depend on (co)tangents, and the linear part.
struct LinearParts {
  /// Inputs: the function's. Outputs: the function's results, then residuals.
  Graph known;
  /// Inputs: the residuals, then (co)tangents. Outputs: (co)tangents.
  Graph linear;
  size_t num_results = 0;
};

/// Partially evaluates a derivative. Its inputs are the function's, `first_unknown` of them, then (co)tangents; its
/// outputs are the function's results, then (co)tangents. Only residuals that the linear part reads are kept; literals
/// and constants are moved into it.
LinearParts linear_parts(const Graph& function, const Graph& derivative, size_t first_unknown, std::string_view name);

}  // namespace calque::detail
