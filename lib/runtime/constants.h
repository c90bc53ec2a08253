#pragma once
// Large captured arrays become inputs of the compiled graph, so that their contents enter neither code nor cache keys.
#include <vector>

#include "calque/ir/graph.h"

namespace calque::runtime {

/// Makes an input, behind the others, of every constant of the graph's own level that is larger than 64 bytes, and
/// returns their arrays in that order. (Constants inside sub-graphs stay.)
std::vector<AnyArray> hoist_constants(Graph& graph);

/// A hash of the contents of all constants that the canonical hash takes by type alone.
GraphHash large_constants_hash(const Graph& graph);

}  // namespace calque::runtime
