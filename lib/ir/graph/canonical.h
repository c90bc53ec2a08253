#pragma once
// The canonical order of a graph's equations, which is independent of the order of recording. Text, hash and tests use
// it.
#include <cstdint>
#include <vector>

#include "calque/ir/graph.h"

namespace calque {

/// The live equations in canonical order: those with effects as recorded, then depth first from the outputs, each after
/// its dependences, operands left to right.
std::vector<const Equation*> canonical_order(const Graph& graph);

}  // namespace calque
