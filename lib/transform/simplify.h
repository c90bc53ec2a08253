#pragma once
#include "calque/ir/graph.h"

#include "transform/inline_calls.h"

namespace calque::transform {

/// The graph made small without changing a bit of its results: calls inlined, known values folded, algebra simplified,
/// equal equations merged, unneeded ones dropped, again until nothing changes. With InlineScope::calls everything that
/// derivatives depend on stays. Run it once more after math::expand: only then are transcendental functions folded.
Graph simplify(const Graph& graph, InlineScope scope = InlineScope::all);

}  // namespace calque::transform
