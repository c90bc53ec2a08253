// Reductions that are computed inside the kernels of their users.
#include <algorithm>
#include <map>

#include "plan/equations.h"
#include "plan/planner.h"
#include "primitives/registry.h"

namespace calque::plan {

using namespace primitives;

void Planner::walk(Value start, const Place& place, std::vector<Place>& places, std::vector<char>& reached) {
  struct Item {
    Value v;
    int prefix;
  };
  std::vector<Item> stack{{start, place.prefix}};
  std::map<std::pair<uint32_t, int>, bool> seen;
  while (!stack.empty()) {
    auto [v, prefix] = stack.back();
    stack.pop_back();
    if (g.kind(v) != ValueKind::result || !seen.emplace(std::pair{v.id(), prefix}, true).second) continue;
    const Equation& e = *g.definition(v);
    if (plan.in_memory[v.id()]) {
      if (fixed[v.id()] || roles[position.at(&e)] != Role::reduction) continue;
      Place& p = places[v.id()];
      if (!reached[v.id()]) {
        reached[v.id()] = 1;
        p = place;
        p.prefix = prefix;
      } else if (p.root != place.root || p.prefix != prefix || !(p.loops == place.loops)) {
        // The same loops around it from the outside are enough: it is computed once, outside the inner ones.
        const bool same = p.root == place.root && p.prefix == prefix && prefix >= 0 &&
                          std::equal(p.loops.begin(), p.loops.begin() + prefix, place.loops.begin());
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
      return without_units(from).size() == static_cast<size_t>(next) && next <= prefix ? next : -1;
    }
    case id_of<Reshape>:
      return without_units(g.shape(operand)) == without_units(g.shape(e.result())) ? prefix : -1;
    default:
      break;
  }
  if (roles[position.at(&e)] != Role::elementwise) return -1;
  // A loop over elements reads tables besides the elements of its own index.
  return g.shape(operand) == g.shape(e.result()) ? prefix : -1;
}

void Planner::join_reductions() {
  size_t candidates = 0;
  size_t roots = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    candidates += roles[i] == Role::reduction;
    for (Value v : order[i]->results()) roots += plan.in_memory[v.id()];
  }
  if (candidates == 0 || candidates * roots > 4'000'000 / std::max<size_t>(1, order.size() / 64)) return;
  std::vector<Place> places(g.num_values());
  std::vector<char> reached(g.num_values(), 0);
  for (size_t i = order.size(); i-- > 0;) {
    const Equation& e = *order[i];
    for (Value v : e.results()) {
      if (!plan.in_memory[v.id()]) continue;
      if (roles[i] == Role::reduction) {
        const Extents kept = without_units(g.shape(v));
        const Place& p = places[v.id()];
        const bool join = !fixed[v.id()] && reached[v.id()] && !p.conflict && p.prefix >= 0 &&
                          kept.size() == static_cast<size_t>(p.prefix) &&
                          p.prefix <= static_cast<int>(p.loops.size()) &&
                          std::equal(kept.begin(), kept.end(), p.loops.begin());
        Place inner;
        inner.root = join ? p.root : v;
        inner.loops = kept;
        const Shape& operand = g.shape(e.operand(0));
        for (int64_t d : without_units(reduced_extents(e, operand))) inner.loops.push_back(d);
        // Nested values are on a prefix of the loops only when the reduced dimensions are the last ones.
        inner.prefix = inner.loops == without_units(operand) ? static_cast<int>(inner.loops.size()) : -1;
        if (join) plan.in_memory[v.id()] = false;
        walk(e.operand(0), inner, places, reached);
        continue;
      }
      Place at;
      at.root = v;
      if (roles[i] == Role::elementwise || roles[i] == Role::view) {
        at.loops = without_units(g.shape(v));
        at.prefix = static_cast<int>(at.loops.size());
        // From the operands on: the root itself is in memory, where the walk would stop.
        for (Value o : e.operands()) {
          Place from = at;
          from.prefix = operand_prefix(e, o, at.prefix);
          walk(o, from, places, reached);
        }
      } else {
        for (Value o : e.operands()) walk(o, at, places, reached);  // prefix -1: nothing joins
      }
    }
    if (e.results().empty())
      for (Value o : e.operands()) walk(o, Place{}, places, reached);
  }
}

}  // namespace calque::plan
