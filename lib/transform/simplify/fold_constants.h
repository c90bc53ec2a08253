#pragma once
#include <optional>

#include "transform/simplify/rewriter.h"

namespace calque::transform {

/// The same graph with every equation evaluated whose operands are known and small.
///
/// Values of up to 64 bytes are folded, and splats of any size by their one element. Larger constants are never read:
/// they are parameters of compiled code. Nothing is folded whose folded value could differ in a bit from what the
/// compiled graph computes: equations with effects, functions of lib/math (unless SweepOptions::forms say what they
/// will be), and sums and products of floats, whose order is the schedule's. A cond or switch on a literal becomes the
/// branch that it takes.
Graph fold_constants(const Graph& graph);

/// The folded value of one equation, if it can be had.
std::optional<Value> fold(Sweep& sweep, const Draft& draft);

}  // namespace calque::transform
