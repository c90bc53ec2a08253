#pragma once
// Inputs and outputs in another order: what transformations of control flow need, whose sub-graphs list constants,
// carries and slices one kind after the other.
#include <span>
#include <vector>

#include "calque/ir/graph.h"

namespace calque {

/// Input i of the graph becomes the one that was inputs[i]; every input occurs once.
void permute_inputs(Graph& graph, std::span<const size_t> inputs);
/// Output i of the graph becomes the one that was outputs[i]; outputs may be dropped and repeated.
void select_outputs(Graph& graph, std::span<const size_t> outputs);

}  // namespace calque
