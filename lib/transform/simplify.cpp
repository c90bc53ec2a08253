#include "transform/simplify.h"

#include "transform/eliminate_dead_code.h"
#include "transform/passes.h"
#include "transform/sweep.h"

namespace calque::transform {

Graph simplify(const Graph& graph, InlineScope scope) {
  // One walk sees every operand simplified; a second one only catches what the bound on emitted equations left.
  constexpr int kMaxRounds = 3;
  const SweepOptions options{
      .inline_calls = true, .inline_rules = scope == InlineScope::all, .fold = true, .algebra = true, .merge = true};
  Graph current = eliminate_dead_code(graph);
  for (int round = 0; round < kMaxRounds; ++round) {
    Sweep sweep(options);
    Graph next = sweep.run(current);
    if (sweep.rewrites() == 0 && sweep.merges() == 0) break;
    current = eliminate_dead_code(next);
    if (sweep.rewrites() == 0) break;
  }
  return verified("simplify", std::move(current));
}

}  // namespace calque::transform
