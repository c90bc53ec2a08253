#pragma once
#include <vector>

#include "calque/ir/graph.h"

namespace calque::transform {

/// Reverse mode: inputs are the graph's, then a cotangent for each output; outputs are the graph's, then a cotangent
/// for each input marked in `wrt`, in order. Cotangents have the types of their values; those of outputs that are
/// neither floating nor complex are ignored, those of such inputs are zero. The graph is simplified, except for what
/// further derivatives need. Throws GradError, with the equation's line, where an equation has no derivative or none in
/// reverse mode (`while`).
Graph vjp(const Graph& graph, const std::vector<bool>& wrt);

}  // namespace calque::transform
