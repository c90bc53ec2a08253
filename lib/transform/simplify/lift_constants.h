#pragma once
// Captured arrays become inputs, so that compiled code does not depend on their contents.
#include <vector>

#include "calque/ir/graph.h"

namespace calque::transform {

/// Whether lift_constants makes an input of a constant: it is larger than 64 bytes, or its elements are on a device,
/// where reading them costs a copy.
bool is_lifted(const AnyArray& array);

/// Makes an input, behind the others, of every such constant of the graph and of the sub-graphs of its control flow, at
/// every depth, and returns their arrays in that order: that of their first use, arrays that share their elements once.
/// Loops and branches get operands that hand the inputs in.
///
/// What is left is for running, not for transforming: a custom_jvp or custom_vjp that holds such a constant becomes a
/// call of its body, since its rules are of no use any more. A custom_linear, which cannot run, keeps its constants.
std::vector<AnyArray> lift_constants(Graph& graph);

}  // namespace calque::transform
