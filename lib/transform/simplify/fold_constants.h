#pragma once
#include <optional>

#include "transform/simplify/rewriter.h"

namespace calque::transform {

/// The same graph with every equation evaluated whose operands are known and small.
///
/// Values of up to 64 bytes are folded, and splats of any size by their single element. Larger constants are never
/// read: they are parameters of compiled code. An equation is not folded if its folded value could differ in a bit from
/// what the compiled graph computes: equations with effects, functions of lib/math (unless RewriterOptions::forms
/// specifies their form), and sums and products of floats, whose order the schedule chooses. A cond or switch on a
/// literal becomes the branch that it takes.
Graph fold_constants(const Graph& graph);

/// The folded value of one equation, if it can be folded.
std::optional<Value> fold(Rewriter& rewriter, const PendingEquation& pending);

}  // namespace calque::transform
