#include "plan/analysis/loop_prefix.h"

#include <cstddef>

#include "plan/analysis/equations.h"
#include "primitives/registry.h"

namespace calque::plan {

using namespace primitives;

namespace {

/// How many of the outermost dimensions of a broadcast's result are the operand's, if all of the operand's are.
int broadcast_prefix(const Equation& e, const Shape& from, const Shape& to, int prefix) {
  const auto& axes = e.attributes().ints("axes");
  int next = 0;
  size_t i = 0;
  for (int axis = 0; axis < to.rank(); ++axis) {
    const bool mapped = i < axes.size() && axes[i] == axis;
    const int64_t extent = mapped ? from[i] : 1;
    if (mapped) ++i;
    if (to[static_cast<size_t>(axis)] == 1) continue;
    if (extent == 1) break;
    ++next;
  }
  return without_size_1_dims(from).size() == static_cast<size_t>(next) && next <= prefix ? next : -1;
}

}  // namespace

int operand_prefix(const GraphAnalysis& a, const Equation& e, Value operand, int prefix) {
  if (a.is_scalar(operand)) return 0;
  if (prefix < 0) return -1;
  const Shape& from = a.graph.shape(operand);
  if (e.id() == id_of<Broadcast>) return broadcast_prefix(e, from, a.graph.shape(e.result()), prefix);
  if (e.id() == id_of<Reshape>) return only_changes_size_1_dims(a.graph, e) ? prefix : -1;
  // A loop over elements reads tables in addition to the elements at its own index.
  const bool same = a.kind(e) == FusionKind::elementwise && from == a.graph.shape(e.result());
  return same ? prefix : -1;
}

}  // namespace calque::plan
