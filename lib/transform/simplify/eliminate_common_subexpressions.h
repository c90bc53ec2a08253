#pragma once
#include "calque/ir/graph.h"

namespace calque::transform {

/// The same graph with equations that compute the same made one: the first. Equal literals, and constants that share an
/// array, become one value; operands of commutative operations may stand in either order. Effects stay.
Graph eliminate_common_subexpressions(const Graph& graph);

}  // namespace calque::transform
