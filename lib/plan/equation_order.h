#pragma once
// The order in which equations are planned.
#include <vector>

#include "calque/ir/graph.h"

#include "plan/plan.h"

namespace calque::plan {

/// Positions of the graph's equations, reordered within their dependences so that equations over small spaces come
/// before those over large ones: kernels fuse neighbouring equations, and a per-row value computed between two
/// operations on all elements would separate them. No equation moves across a loop, a product or another separate step,
/// so that live ranges do not extend beyond the next of these. `fusion_kinds`: by position in the graph.
std::vector<uint32_t> schedule(const Graph& graph, const std::vector<FusionKind>& fusion_kinds);

}  // namespace calque::plan
