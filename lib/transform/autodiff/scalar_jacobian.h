#pragma once
#include <cstdint>
#include <optional>
#include <span>

#include "calque/ir/graph.h"

namespace calque::transform {

/// The Jacobian, with respect to the inputs numbered in `selected`, of a function that computes with their elements as
/// scalars, as code written with small matrices does. Computes one forward derivative for each element, so that the
/// derivative of a result by an element that it does not depend on costs nothing. Inputs are the graph's; outputs are,
/// for each result and each selected input, a derivative of shape result.shape + input.shape. The branches of the
/// function stay branches, each of which computes all derivatives of its results. Returns nothing if the function
/// computes with arrays or if there would be too many derivatives: a batch of tangents is faster then.
std::optional<Graph> scalar_jacobian(const Graph& graph, std::span<const uint32_t> selected);

}  // namespace calque::transform
