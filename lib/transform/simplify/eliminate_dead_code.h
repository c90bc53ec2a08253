#pragma once
#include "calque/ir/graph.h"

namespace calque::transform {

/// The same graph without equations that neither an output nor an effect needs, and without results of loops and
/// branches that are not needed: their carries, constants, slices and stacked results go. Sub-graphs likewise. The
/// order stays.
Graph eliminate_dead_code(const Graph& graph);

}  // namespace calque::transform
