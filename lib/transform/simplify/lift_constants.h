#pragma once
// Lifts captured arrays to inputs, so that compiled code does not depend on their contents.
#include <vector>

#include "calque/ir/graph.h"

namespace calque::transform {

/// Whether lift_constants turns a constant into an input: it is larger than 64 bytes, or its elements are on a device,
/// where reading them costs a copy.
bool is_lifted(const AnyArray& array);

/// Turns every such constant of the graph, and of the sub-graphs of its control flow at every depth, into an input
/// after the existing ones. Returns the arrays in the order of the new inputs, which is that of their first use; arrays
/// that share their elements appear once. Loops and branches get operands that pass the inputs to their sub-graphs.
///
/// The resulting graph is for running, not for transforming: a custom_jvp or custom_vjp that holds such a constant
/// becomes a call of its body, since its rules are no longer needed. A custom_linear, which cannot run, keeps its
/// constants.
std::vector<AnyArray> lift_constants(Graph& graph);

}  // namespace calque::transform
