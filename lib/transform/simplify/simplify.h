#pragma once
#include <optional>

#include "calque/ir/graph.h"

#include "math/forms.h"
#include "transform/simplify/inline_calls.h"

namespace calque::transform {

/// The graph made small without changing a bit of its results: calls inlined, known values folded, algebra simplified,
/// equal equations merged, unneeded ones dropped, again until nothing changes. With InlineScope::calls everything that
/// derivatives depend on stays. Transcendental functions are folded where `forms` say how generated code computes them.
Graph simplify(const Graph& graph, InlineScope scope = InlineScope::all,
               const std::optional<math::MathForms>& forms = {});

}  // namespace calque::transform
