#pragma once
#include <optional>
#include <span>

#include "calque/ir/graph.h"

#include "ir/pass_log.h"
#include "math/forms.h"
#include "transform/simplify/inline_calls.h"

namespace calque::transform {

/// Simplifies the graph with bit-identical results: inlines calls, folds constants, applies algebraic laws, merges
/// equal equations and removes dead ones, until nothing changes. With InlineScope::calls everything that derivatives
/// depend on is kept. Transcendental functions are folded if `forms` specifies how generated code computes them.
Graph simplify(const Graph& graph, InlineScope scope = InlineScope::all,
               const std::optional<math::MathForms>& forms = {}, PassLog* log = nullptr);

/// The passes that `simplify` runs and records in a log.
std::span<const PassInfo> simplify_passes();

}  // namespace calque::transform
