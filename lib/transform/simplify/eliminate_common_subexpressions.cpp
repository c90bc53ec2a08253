// The rewriter with merging as its only rewrite.
#include "transform/simplify/eliminate_common_subexpressions.h"

#include "transform/simplify/rewriter.h"

namespace calque::transform {

Graph eliminate_common_subexpressions(const Graph& graph) { return Rewriter({.merge = true}).run(graph); }

}  // namespace calque::transform
