#pragma once
#include <optional>

#include "calque/ir/graph.h"

#include "ir/pass_log.h"
#include "math/forms.h"
#include "transform/simplify/inline_calls.h"

namespace calque::transform {

/// Simplifies the graph with bit-identical results: inlines calls, folds constants, applies algebraic laws, merges
/// equal equations and removes dead ones, until nothing changes. With InlineScope::calls everything that derivatives
/// depend on is kept. Transcendental functions are folded if `forms` specifies how generated code computes them.
Graph simplify(const Graph& graph, InlineScope scope = InlineScope::all,
               const std::optional<math::MathForms>& forms = {});

/// The two passes that it consists of. Rewriting removes what it leaves unused, and repeats while there is more.
inline constexpr PassInfo kDcePass = {"dce", "removes equations that neither an output nor an effect needs"},
                          kRewritePass = {"rewrite",
                                          "inlines calls, folds constants, applies algebraic laws and merges equal "
                                          "equations in one walk, then removes what is unused"};
Graph rewrite(const Graph& graph, InlineScope scope, const std::optional<math::MathForms>& forms);

}  // namespace calque::transform
