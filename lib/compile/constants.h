#pragma once
// The part of a graph's constants that is in the cache key of its code.
#include "calque/ir/graph.h"

namespace calque::runtime {

/// A hash of the contents of all constants that the canonical hash covers by type alone. transform::lift_constants
/// leaves hardly any.
GraphHash large_constants_hash(const Graph& graph);

}  // namespace calque::runtime
