#pragma once
// The canonical order of a graph's equations, on which text, hash and tests agree whatever order they were recorded in.
#include <cstdint>
#include <vector>

#include "calque/ir/graph.h"

namespace calque {

/// The equations that the graph needs, in canonical order: those with effects as recorded, then depth first from the
/// outputs, each after what it depends on, operands left to right.
std::vector<const Equation*> canonical_order(const Graph& graph);

}  // namespace calque
