#pragma once
#include <string_view>

#include "calque/ir/graph.h"

namespace calque::detail {

/// A derivative in two parts: what does not depend on (co)tangents, and the linear rest.
struct LinearParts {
  /// Inputs: the function's. Outputs: the function's results, then residuals.
  Graph known;
  /// Inputs: the residuals, then (co)tangents. Outputs: (co)tangents.
  Graph linear;
  size_t num_results = 0;
};

/// Takes a derivative apart. Its inputs are the function's, `first_unknown` of them, then (co)tangents; its outputs the
/// function's results, then (co)tangents. Only residuals that the linear part reads are left; those that are literals
/// or constants are part of it.
LinearParts take_apart(const Graph& function, const Graph& derivative, size_t first_unknown, std::string_view name);

}  // namespace calque::detail
