// Reductions that are computed inside the kernels of their users.
#include <algorithm>
#include <map>

#include "plan/equations.h"
#include "plan/planner.h"
#include "primitives/registry.h"

namespace calque::plan {

using namespace primitives;

void Planner::walk(Value start, const FusionContext& context, std::vector<FusionContext>& contexts,
                   std::vector<char>& reached) {
  struct Item {
    Value v;
    int prefix;
  };
  std::vector<Item> stack{{start, context.prefix}};
  std::map<std::pair<uint32_t, int>, bool> seen;
  while (!stack.empty()) {
    auto [v, prefix] = stack.back();
    stack.pop_back();
    if (g.kind(v) != ValueKind::result || !seen.emplace(std::pair{v.id(), prefix}, true).second) continue;
    const Equation& e = *g.definition(v);
    if (plan.materialized[v.id()]) {
      if (fixed[v.id()] || fusion_kinds[position.at(&e)] != FusionKind::reduction) continue;
      FusionContext& p = contexts[v.id()];
      if (!reached[v.id()]) {
        reached[v.id()] = 1;
        p = context;
        p.prefix = prefix;
      } else if (p.root != context.root || p.prefix != prefix || !(p.loops == context.loops)) {
        // The same outer loops suffice: it is computed once, outside the inner ones.
        const bool same = p.root == context.root && p.prefix == prefix && prefix >= 0 &&
                          std::equal(p.loops.begin(), p.loops.begin() + prefix, context.loops.begin());
        if (!same) p.conflict = true;
      }
      continue;
    }
    for (Value o : e.operands()) stack.push_back({o, operand_prefix(e, o, prefix)});
  }
}

int Planner::operand_prefix(const Equation& e, Value operand, int prefix) const {
  if (g.shape(operand).num_elements() == 1) return 0;
  if (prefix < 0) return -1;
  switch (e.id()) {
    case id_of<Broadcast>: {
      const auto& axes = e.attributes().ints("axes");
      const Shape& to = g.shape(e.result());
      const Shape& from = g.shape(operand);
      // The operand's dimensions must be the outermost ones of the result.
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
    case id_of<Reshape>:
      return without_size_1_dims(g.shape(operand)) == without_size_1_dims(g.shape(e.result())) ? prefix : -1;
    default:
      break;
  }
  if (fusion_kinds[position.at(&e)] != FusionKind::elementwise) return -1;
  // A loop over elements reads tables in addition to the elements at its own index.
  return g.shape(operand) == g.shape(e.result()) ? prefix : -1;
}

void Planner::fuse_reductions() {
  size_t candidates = 0;
  size_t roots = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    candidates += fusion_kinds[i] == FusionKind::reduction;
    for (Value v : order[i]->results()) roots += plan.materialized[v.id()];
  }
  if (candidates == 0 || candidates * roots > 4'000'000 / std::max<size_t>(1, order.size() / 64)) return;
  std::vector<FusionContext> contexts(g.num_values());
  std::vector<char> reached(g.num_values(), 0);
  for (size_t i = order.size(); i-- > 0;) {
    const Equation& e = *order[i];
    for (Value v : e.results()) {
      if (!plan.materialized[v.id()]) continue;
      if (fusion_kinds[i] == FusionKind::reduction) {
        const Extents kept = without_size_1_dims(g.shape(v));
        const FusionContext& p = contexts[v.id()];
        const bool fuse = !fixed[v.id()] && reached[v.id()] && !p.conflict && p.prefix >= 0 &&
                          kept.size() == static_cast<size_t>(p.prefix) &&
                          p.prefix <= static_cast<int>(p.loops.size()) &&
                          std::equal(kept.begin(), kept.end(), p.loops.begin());
        FusionContext inner;
        inner.root = fuse ? p.root : v;
        inner.loops = kept;
        const Shape& operand = g.shape(e.operand(0));
        for (int64_t d : without_size_1_dims(reduced_extents(e, operand))) inner.loops.push_back(d);
        // Nested values are indexed by a prefix of the loops only if the reduced dimensions are the last ones.
        inner.prefix = inner.loops == without_size_1_dims(operand) ? static_cast<int>(inner.loops.size()) : -1;
        if (fuse) plan.materialized[v.id()] = false;
        walk(e.operand(0), inner, contexts, reached);
        continue;
      }
      FusionContext at;
      at.root = v;
      if (fusion_kinds[i] == FusionKind::elementwise || fusion_kinds[i] == FusionKind::view) {
        at.loops = without_size_1_dims(g.shape(v));
        at.prefix = static_cast<int>(at.loops.size());
        // Start at the operands: the root itself is materialized, where the walk would stop.
        for (Value o : e.operands()) {
          FusionContext from = at;
          from.prefix = operand_prefix(e, o, at.prefix);
          walk(o, from, contexts, reached);
        }
      } else {
        for (Value o : e.operands()) walk(o, at, contexts, reached);  // prefix -1: nothing is fused
      }
    }
    if (e.results().empty())
      for (Value o : e.operands()) walk(o, FusionContext{}, contexts, reached);
  }
}

}  // namespace calque::plan
