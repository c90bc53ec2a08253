#pragma once
#include <vector>

#include "calque/ir/graph.h"

namespace calque::transform {

/// Partial evaluation of control flow: the same function, in which no equation has both known and unknown results. An
/// equation is unknown if it depends on the inputs marked in `unknown`. Control flow with results of both kinds becomes
/// two equations, of which the first passes residuals to the second.
Graph partial_eval_control_flow(const Graph& graph, const std::vector<bool>& unknown);

}  // namespace calque::transform
