#pragma once
#include "calque/ir/graph.h"

namespace calque::transform {

/// The same graph without equations that neither an output nor an effect needs, and without unused results of loops and
/// branches: their carries, constants, slices and stacked results are removed. Applies to sub-graphs too. Preserves the
/// order of equations.
Graph eliminate_dead_code(const Graph& graph);

}  // namespace calque::transform
