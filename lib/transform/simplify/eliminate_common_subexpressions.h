#pragma once
#include "calque/ir/graph.h"

namespace calque::transform {

/// The same graph with equations that compute the same value merged into the first of them. Equal literals, and
/// constants that share an array, become one value; operands of commutative operations match in either order. Equations
/// with effects are not merged.
Graph eliminate_common_subexpressions(const Graph& graph);

}  // namespace calque::transform
