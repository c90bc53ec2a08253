// The rewriter with inlining as its only rewrite; a graph without calls is returned unchanged.
#include "transform/simplify/inline_calls.h"

#include "transform/simplify/rewriter.h"

namespace calque::transform {
namespace {

using namespace primitives;

bool has_calls(const Graph& graph, InlineScope scope) {
  for (const Equation& e : graph.equations()) {
    if (e.id() == id_of<Call>) return true;
    const bool carries_rule = e.id() == id_of<Checkpoint> || e.id() == id_of<CustomJvp> || e.id() == id_of<CustomVjp> ||
                              e.id() == id_of<CustomRoot> || e.id() == id_of<LinearSolve>;
    if (carries_rule && scope == InlineScope::all) return true;
    for (const Graph& g : e.subgraphs()) {
      if (has_calls(g, scope)) return true;
    }
  }
  return false;
}

}  // namespace

Graph inline_calls(const Graph& graph, InlineScope scope) {
  if (!has_calls(graph, scope)) return graph;
  return Rewriter({.inline_calls = true, .inline_rules = scope == InlineScope::all}).run(graph);
}

}  // namespace calque::transform
