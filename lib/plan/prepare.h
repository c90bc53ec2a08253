#pragma once
#include "calque/ir/graph.h"

namespace calque::plan {

/// Assembles small results of branches in them, and rewrites equations that kernels and steps do not support, in
/// sub-graphs too:
/// - a while loop with a condition for each element whose body works across elements becomes a loop on "any", in which
///   finished elements keep their state by a select;
/// - optimization barriers are removed;
/// - 16-bit scatter_add and scatter_mul accumulate in f32.
Graph prepare(const Graph& graph);

}  // namespace calque::plan
