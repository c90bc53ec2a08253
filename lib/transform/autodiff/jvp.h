#pragma once
#include <vector>

#include "calque/ir/graph.h"

namespace calque::transform {

/// Forward mode: inputs are the graph's, then a tangent for each input that is `active`; outputs are the graph's, then
/// a tangent for each output. Tangents have the types of their values. Where nothing active is reached the tangent is a
/// literal zero, and no equation is spent on it; so it is for outputs that are neither floating nor complex.
/// Throws GradError, with the equation's line, where an equation has no derivative: an active input that is neither
/// floating nor complex is none of them, its tangent is ignored. Functions with a custom_vjp rule have no forward
/// derivative.
Graph jvp(const Graph& graph, const std::vector<bool>& active);

}  // namespace calque::transform
