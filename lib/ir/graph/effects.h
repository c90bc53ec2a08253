#pragma once
// Equations with effects: never removed as dead, never reordered with each other, never evaluated at compile time.
#include "calque/ir/graph.h"

namespace calque {

/// Whether the equation, or one in its sub-graphs, has an effect.
bool has_effect(const Equation& equation);
/// Whether any equation of the graph has an effect.
bool has_effect(const Graph& graph);

}  // namespace calque
