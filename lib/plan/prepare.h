#pragma once
#include "calque/ir/graph.h"

namespace calque::plan {

/// Rewrites what kernels and steps do not know as such into what they do:
/// - a while loop with a condition for each element whose body works across elements becomes a loop on "any", whose
///   finished elements keep their state by selection;
/// - optimization barriers go;
/// - 16-bit scatter_add and scatter_mul accumulate in f32.
/// Sub-graphs included.
Graph prepare(const Graph& graph);

}  // namespace calque::plan
