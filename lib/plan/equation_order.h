#pragma once
// The order in which equations are planned.
#include <vector>

#include "calque/ir/graph.h"

#include "plan/plan.h"

namespace calque::plan {

/// Positions of the graph's equations, those over small spaces before those over large ones as far as they do not
/// depend on each other: kernels take neighbours, and a value of every row that is computed between two operations on
/// all elements would part them. Nothing moves across a loop, a product or another step of its own, so that what is
/// stored is not kept for longer than from one of these to the next. `roles`: by position in the graph.
std::vector<uint32_t> schedule(const Graph& graph, const std::vector<Role>& roles);

}  // namespace calque::plan
