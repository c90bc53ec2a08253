#pragma once
#include <span>
#include <vector>

#include "calque/ir/graph.h"

namespace calque::transform {

/// Forward mode: inputs are the graph's, then a tangent for each `active` input; outputs are the graph's, then a
/// tangent for each output. Tangents have the types of their values. The tangent of an output that depends on no active
/// input, or that is neither floating nor complex, is a literal zero, for which no equation is emitted. The tangent of
/// an active input that is neither floating nor complex is ignored. Throws GradError, with the equation's line, where
/// an equation has no derivative. Functions with a custom_vjp rule have no forward derivative.
Graph jvp(const Graph& graph, const std::vector<bool>& active);

/// Forward mode in several directions at once: inputs are the graph's, then, for each direction, a tangent for each
/// input that is active in it; outputs are the graph's, then, for each direction, a tangent for each output. What the
/// directions share is computed once: one branch of a cond or switch gives the tangents of all of them.
Graph jvp(const Graph& graph, std::span<const std::vector<bool>> active);

}  // namespace calque::transform
