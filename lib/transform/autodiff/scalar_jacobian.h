#pragma once
#include <cstdint>
#include <optional>
#include <span>

#include "calque/ir/graph.h"

namespace calque::transform {

/// The Jacobian of a function that takes the inputs numbered in `selected` apart and computes with single elements, as
/// code written with small matrices does: one forward derivative for each element, so that a result costs nothing by an
/// element that it does not depend on. Inputs are the graph's; outputs are, for each result and each selected input, a
/// derivative of shape result.shape + input.shape. None where the function computes with arrays, or where the
/// derivatives would be too many: a batch of tangents is better then.
std::optional<Graph> scalar_jacobian(const Graph& graph, std::span<const uint32_t> selected);

}  // namespace calque::transform
