// Merging is what every sweep can do; here it does nothing else.
#include "transform/simplify/eliminate_common_subexpressions.h"

#include "transform/simplify/rewriter.h"

namespace calque::transform {

Graph eliminate_common_subexpressions(const Graph& graph) { return Sweep({.merge = true}).run(graph); }

}  // namespace calque::transform
