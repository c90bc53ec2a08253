#include "plan/analysis/loop_nest.h"

#include <algorithm>
#include <vector>

#include "primitives/registry.h"

namespace calque::plan {
namespace {

/// Positions of the reduced dimensions among those whose extent is not 1.
Extents reduced_positions(const Equation& e, const Shape& operand) {
  std::vector<int64_t> axes;
  if (const AttributeValue* several = e.attributes().find("axes")) {
    axes = std::get<std::vector<int64_t>>(*several);
  } else {
    axes.push_back(e.attributes().integer("axis"));
  }
  Extents out;
  int64_t next = 0;
  for (size_t d = 0; d < operand.size(); ++d) {
    if (operand[d] == 1) continue;
    if (std::find(axes.begin(), axes.end(), static_cast<int64_t>(d)) != axes.end()) out.push_back(next);
    ++next;
  }
  return out;
}

}  // namespace

LoopNest loop_nest_of_reduction(const Graph& g, const Equation& e) {
  LoopNest nest;
  const Shape& operand = g.shape(e.operand(0));
  nest.full = without_size_1_dims(operand);
  nest.kept = without_size_1_dims(g.shape(e.result()));
  nest.reduced = reduced_positions(e, operand);
  return nest;
}

bool is_along_kept(const Graph& g, const Equation& e, const LoopNest& nest) {
  const auto& axes = e.attributes().ints("axes");
  const Shape &to = g.shape(e.result()), &from = g.shape(e.operand(0));
  Extents mapped;
  int64_t next = 0;
  size_t i = 0;
  for (int axis = 0; axis < to.rank(); ++axis) {
    const bool is_mapped = i < axes.size() && axes[i] == axis;
    const bool unit = !is_mapped || from[i] == 1;
    if (is_mapped) ++i;
    if (to[static_cast<size_t>(axis)] == 1) continue;
    if (unit) mapped.push_back(next);
    ++next;
  }
  return mapped == nest.reduced;
}

}  // namespace calque::plan
