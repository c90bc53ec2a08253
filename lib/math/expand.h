#pragma once
// Rewrites transcendental and special functions into basic primitives, so that one source serves every target, every
// vector width and the constant folder alike.
#include "calque/ir/graph.h"

#include "math/forms.h"

namespace calque::math {

/// The same graph with every equation whose primitive lib/math defines replaced by its expansion, sub-graphs included.
/// 16-bit floats are computed in f32 and rounded once.
Graph expand(const Graph& graph, const MathForms& forms = {});
/// Whether `expand` would change anything.
bool needs_expansion(const Graph& graph);

}  // namespace calque::math
