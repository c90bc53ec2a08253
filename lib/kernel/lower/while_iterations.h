#pragma once
// How often while loops run at most.
#include <cstdint>

#include "calque/ir/graph.h"

namespace calque::kernel {

/// A bound on the iterations of a `while` of `graph`, or -1: found where the condition requires that one of the
/// carries, a number that starts at a literal and to which each iteration adds a literal or which it multiplies by one,
/// is below or above a literal. Integers are taken not to wrap around.
int64_t most_iterations(const Graph& graph, const Equation& loop);

}  // namespace calque::kernel
