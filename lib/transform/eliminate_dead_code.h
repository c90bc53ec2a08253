#pragma once
#include "calque/ir/graph.h"

namespace calque::transform {

/// The same graph without equations that neither an output nor an effect needs; sub-graphs likewise. The order stays.
Graph eliminate_dead_code(const Graph& graph);

}  // namespace calque::transform
