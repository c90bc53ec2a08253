#pragma once
#include "calque/ir/graph.h"

namespace calque::transform {

/// The transpose of a graph that is linear in its inputs from `num_residuals` on: inputs are the residuals, then a
/// cotangent for each output; outputs are cotangents of the linear inputs, in order. Throws GradError, with the
/// equation's line, where an equation cannot be transposed.
Graph transpose(const Graph& graph, size_t num_residuals);

}  // namespace calque::transform
