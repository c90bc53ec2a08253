#pragma once
// What of a graph's constants enters the key of its code.
#include "calque/ir/graph.h"

namespace calque::runtime {

/// A hash of the contents of all constants that the canonical hash takes by type alone. transform::lift_constants
/// leaves hardly any.
GraphHash large_constants_hash(const Graph& graph);

}  // namespace calque::runtime
