#pragma once
// Which equations run for their effect: they stay though unused, keep their order, and are never evaluated early.
#include "calque/ir/graph.h"

namespace calque {

/// Whether the equation, or one in its sub-graphs, has an effect.
bool has_effect(const Equation& equation);
/// Whether any equation of the graph has an effect.
bool has_effect(const Graph& graph);

}  // namespace calque
