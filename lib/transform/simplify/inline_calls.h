#pragma once
#include "calque/ir/graph.h"

namespace calque::transform {

/// Which call-like equations to replace.
enum class InlineScope : uint8_t {
  calls,  ///< `call` alone: the graph may still be differentiated
  all,    ///< checkpoint, custom rules and implicit solutions too, which discards their derivative rules
};

/// The same graph with call-like equations replaced by their bodies, sub-graphs of control flow included. Equations
/// keep their locations.
Graph inline_calls(const Graph& graph, InlineScope scope = InlineScope::all);

}  // namespace calque::transform
