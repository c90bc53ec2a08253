#pragma once
#include "calque/ir/graph.h"

namespace calque::plan {

/// Moves concatenations of small results of a cond or switch into its branches, in sub-graphs too: the kernel of each
/// branch then writes one array, in place of a scalar for each element that another kernel gathers.
Graph assemble_in_branches(const Graph& graph);

}  // namespace calque::plan
