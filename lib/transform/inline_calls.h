#pragma once
#include "calque/ir/graph.h"

namespace calque::transform {

/// The same graph with every call-like equation (call, checkpoint, custom_jvp, custom_vjp) replaced by its body,
/// sub-graphs of control flow included. Equations keep their locations.
Graph inline_calls(const Graph& graph);

}  // namespace calque::transform
