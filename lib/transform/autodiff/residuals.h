#pragma once
#include <vector>

#include "calque/ir/graph.h"

namespace calque::transform {

/// Which values to keep so that `wanted`, a set of values of the graph, can be computed again from them, literals and
/// constants by cheap equations: the set of fewest bytes (a minimum cut), the latest of such. Cheap are elementwise
/// equations and views, but no transcendental functions, reductions, contractions, loops or calls. Inputs cost nothing
/// but those marked in `dear`. Values are by id.
std::vector<bool> choose_residuals(const Graph& graph, const std::vector<bool>& wanted, const std::vector<bool>& dear);

}  // namespace calque::transform
