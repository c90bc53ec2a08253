#pragma once
#include <vector>

#include "calque/ir/graph.h"

namespace calque::transform {

/// The same function, but every equation depends either wholly on the inputs marked in `unknown` or not at all: control
/// flow whose results are of both kinds becomes two equations, of which the first hands residuals to the second.
Graph separate(const Graph& graph, const std::vector<bool>& unknown);

}  // namespace calque::transform
