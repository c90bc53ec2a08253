// Dead code is removed first, so that it is not rewritten, and last, since rewriting leaves operands unused.
#include "transform/simplify/simplify.h"

#include "transform/simplify/eliminate_dead_code.h"
#include "transform/simplify/passes.h"
#include "transform/simplify/rewriter.h"

namespace calque::transform {
namespace {

constexpr std::string_view kDce = "dce", kRewrite = "rewrite", kDceAfter = "dce-after-rewrite";
constexpr PassInfo kSimplifyPasses[] = {
    {kDce, "removes equations that neither an output nor an effect needs"},
    {kRewrite, "inlines calls, folds constants, applies algebraic laws and merges equal equations in one walk"},
    {kDceAfter, "removes equations that rewriting left unused; rewriting and this repeat while needed"},
};

}  // namespace

std::span<const PassInfo> simplify_passes() { return kSimplifyPasses; }

Graph simplify(const Graph& graph, InlineScope scope, const std::optional<math::MathForms>& forms, PassLog* log) {
  const RewriterOptions options{.inline_calls = true,
                                .inline_rules = scope == InlineScope::all,
                                .fold = true,
                                .forms = forms,
                                .algebra = true,
                                .merge = true};
  Graph current = logged(log, kDce, [&] { return eliminate_dead_code(graph); });
  // One walk sees every operand simplified and reaches the fixpoint, unless it stopped at its depth limit.
  constexpr int kMaxRounds = 3;
  for (int round = 0; round < kMaxRounds; ++round) {
    Rewriter rewriter(options);
    Graph next = logged(log, kRewrite, [&] { return rewriter.run(current); });
    if (rewriter.rewrites() == 0 && rewriter.merges() == 0) break;
    current = logged(log, kDceAfter, [&] { return eliminate_dead_code(next); });
    if (!rewriter.reached_bound()) break;
  }
  return verified("simplify", std::move(current));
}

}  // namespace calque::transform
