// Dead code is removed first, so that it is not rewritten, and last, since rewriting leaves operands unused.
#include "transform/simplify/simplify.h"

#include "transform/simplify/eliminate_dead_code.h"
#include "transform/simplify/passes.h"
#include "transform/simplify/rewriter.h"

namespace calque::transform {

Graph rewrite(const Graph& graph, InlineScope scope, const std::optional<math::MathForms>& forms) {
  const RewriterOptions options{.inline_calls = true,
                                .inline_rules = scope == InlineScope::all,
                                .fold = true,
                                .forms = forms,
                                .algebra = true,
                                .merge = true};
  Graph current = graph;
  // One walk sees every operand simplified and reaches the fixpoint, unless it stopped at its depth limit.
  constexpr int kMaxRounds = 3;
  for (int round = 0; round < kMaxRounds; ++round) {
    Rewriter rewriter(options);
    const Graph next = rewriter.run(current);
    if (rewriter.rewrites() == 0 && rewriter.merges() == 0) break;
    current = eliminate_dead_code(next);
    if (!rewriter.reached_bound()) break;
  }
  return current;
}

Graph simplify(const Graph& graph, InlineScope scope, const std::optional<math::MathForms>& forms) {
  return verified("simplify", rewrite(eliminate_dead_code(graph), scope, forms));
}

}  // namespace calque::transform
