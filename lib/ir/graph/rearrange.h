#pragma once
// Permutation of a graph's inputs and outputs, for transformations of control flow: sub-graphs list constants, carries
// and slices in this order.
#include <span>
#include <vector>

#include "calque/ir/graph.h"

namespace calque {

/// New input i is the old input inputs[i]; every input occurs once.
void permute_inputs(Graph& graph, std::span<const size_t> inputs);
/// New output i is the old output outputs[i]; outputs may be dropped and repeated.
void select_outputs(Graph& graph, std::span<const size_t> outputs);

}  // namespace calque
