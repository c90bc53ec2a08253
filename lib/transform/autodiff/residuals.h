#pragma once
#include <vector>

#include "calque/ir/graph.h"

namespace calque::transform {

/// Which values to keep so that `wanted`, a set of values of the graph, can be recomputed from them, literals and
/// constants by rematerializable equations: the set of fewest bytes (a minimum cut), the latest of such.
/// Rematerializable are elementwise equations and views, but not transcendental functions, reductions, contractions,
/// loops or calls. Inputs cost nothing except those marked in `expensive`. Values are by id.
std::vector<bool> choose_residuals(const Graph& graph, const std::vector<bool>& wanted,
                                   const std::vector<bool>& expensive);

}  // namespace calque::transform
