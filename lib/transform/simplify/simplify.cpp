// Dead code goes first, so that nothing is rewritten in vain, and last, since rewriting leaves operands unused.
#include "transform/simplify/simplify.h"

#include "transform/simplify/eliminate_dead_code.h"
#include "transform/simplify/passes.h"
#include "transform/simplify/rewriter.h"

namespace calque::transform {

Graph simplify(const Graph& graph, InlineScope scope, const std::optional<math::MathForms>& forms) {
  const SweepOptions options{.inline_calls = true,
                             .inline_rules = scope == InlineScope::all,
                             .fold = true,
                             .forms = forms,
                             .algebra = true,
                             .merge = true};
  Graph current = eliminate_dead_code(graph);
  // One walk sees every operand simplified and leaves nothing to do, but where it stopped at its bound.
  constexpr int kMaxRounds = 3;
  for (int round = 0; round < kMaxRounds; ++round) {
    Sweep sweep(options);
    Graph next = sweep.run(current);
    if (sweep.rewrites() == 0 && sweep.merges() == 0) break;
    current = eliminate_dead_code(next);
    if (!sweep.reached_bound()) break;
  }
  return verified("simplify", std::move(current));
}

}  // namespace calque::transform
