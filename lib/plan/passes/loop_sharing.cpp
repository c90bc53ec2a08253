// A root of the kernel that another root reads is recomputed at its use; both are merged if they are in one loop. The
// loops of one stage are fused: stage n holds the pointwise operations and reductions that depend on a chain of n
// reductions.
#include "plan/passes/loop_sharing.h"

#include <algorithm>
#include <utility>

#include "plan/analysis/equations.h"
#include "primitives/registry.h"

namespace calque::plan {

using namespace primitives;

namespace {

/// Limit on the number of values of one root's kernel that are analyzed.
constexpr size_t kMaxSharedValues = 400;
/// Recomputing this many operations costs more than the pass through memory that is saved.
constexpr double kExpensiveToRepeat = 8;
/// Columns are reduced row by row, in short loops (codegen/emit/columns.cpp) whose accumulators are in memory: stores
/// in these loops cost more than rereading from a cache.
constexpr double kColumnCost = 24;
constexpr int64_t kLargeColumns = int64_t{1} << 22;

bool has_reductions(const EquationOrder& order) {
  for (size_t i = 0; i < order.size(); ++i)
    if (order.kind(i) == FusionKind::reduction) return true;
  return false;
}

}  // namespace

LoopSharing::LoopSharing(const GraphAnalysis& analysis, const MaterializedValues& values,
                         const RecomputationCosts& costs, const std::vector<int32_t>& step_of)
    : a_(analysis),
      g_(a_.graph),
      values_(values),
      costs_(costs),
      step_of_(step_of),
      any_reductions_(has_reductions(a_.order)),
      seen_(g_.num_values(), 0),
      budget_(20'000 + 100 * a_.order.size()) {}

int LoopSharing::stage(Value root) const {
  const auto at = stages_.find(root.id());
  return at == stages_.end() ? 0 : at->second;
}

LoopNest LoopSharing::loop_nest_of(Value root, bool& mixed) {
  LoopNest found;
  mixed = false;
  if (!any_reductions_) return found;
  std::vector<Value> stack{root};
  seen_[root.id()] = ++walk_;
  for (size_t n = 0; !stack.empty(); ++n) {
    if (n > kMaxSharedValues || budget_ == 0) {
      mixed = true;
      return {};
    }
    --budget_;
    const Value v = stack.back();
    stack.pop_back();
    const Equation& e = *g_.definition(v);
    if (a_.kind(e) == FusionKind::reduction) {
      const LoopNest f = loop_nest_of_reduction(g_, e);
      if (f.valid()) {
        mixed = mixed || (found.valid() && !(found == f));
        found = f;
      }
    }
    for (const Value o : e.operands()) {
      if (!is_inlined(o, root) || std::exchange(seen_[o.id()], walk_) == walk_) continue;
      stack.push_back(o);
    }
  }
  return found;
}

LoopSharing::At LoopSharing::operand(const Equation& e, Value o, At at, const LoopNest& nest) const {
  if (a_.kind(e) == FusionKind::reduction) {
    return at == At::kept && loop_nest_of_reduction(g_, e) == nest ? At::full : At::other;
  }
  if (nest.kept.empty() && g_.shape(o).num_elements() == 1) return At::kept;
  if (at == At::other) return at;
  const Extents own = without_size_1_dims(g_.shape(o));
  const bool same = own == without_size_1_dims(g_.shape(e.result()));
  if (e.id() == id_of<Broadcast>) {
    if (same) return at;
    return at == At::full && own == nest.kept && is_along_kept(g_, e, nest) ? At::kept : At::other;
  }
  return same && (a_.kind(e) == FusionKind::elementwise || e.id() == id_of<Reshape>) ? at : At::other;
}

bool LoopSharing::collect(Value root, const LoopNest& nest, int32_t step) {
  items_.clear();
  const Extents own = without_size_1_dims(g_.shape(root));
  if (own != nest.full && own != nest.kept) return refuse("is over another space");
  items_.push_back({root, own == nest.full ? At::full : At::kept});
  for (size_t n = 0; n < items_.size(); ++n) {
    if (n > kMaxSharedValues || budget_ == 0) return refuse("takes too long to analyze");
    --budget_;
    const auto [v, at, stage, latest] = items_[n];
    if (!is_inlined(v, root)) continue;
    const Equation& e = *g_.definition(v);
    if (a_.kind(e) == FusionKind::reduction && (at != At::kept || !(loop_nest_of_reduction(g_, e) == nest))) {
      if (loop_nest_of_reduction(g_, e).valid()) return refuse("reduces other dimensions");
    }
    for (const Value o : e.operands()) {
      if (g_.kind(o) != ValueKind::result) continue;
      const At to = operand(e, o, at, nest);
      const bool member = values_.is_materialized(o) && step_of_[o.id()] == step;
      if (values_.is_materialized(o) && !member) continue;
      if (member && to == At::other) return refuse("needs " + g_.definition(o)->primitive() + " at other indices");
      const bool known =
          std::any_of(items_.begin(), items_.end(), [&](const Item& i) { return i.v == o && i.at == to; });
      if (!known) items_.push_back({o, to});
    }
  }
  return true;
}

void LoopSharing::compute_stages(Value root, const LoopNest& nest) {
  std::sort(items_.begin(), items_.end(), [](const Item& a, const Item& b) { return a.v < b.v; });
  std::unordered_map<uint32_t, int> stages;
  const auto of = [&](Value v) {
    const auto at = stages.find(v.id());
    return at == stages.end() ? 0 : at->second;
  };
  for (Item& i : items_) {
    if (is_inlined(i.v, root)) {
      const Equation& e = *g_.definition(i.v);
      for (const Value o : e.operands()) i.stage = std::max(i.stage, of(o));
      i.stage += a_.kind(e) == FusionKind::reduction;
    } else {
      i.stage = stage(i.v);
    }
    stages[i.v.id()] = i.latest = i.stage;
  }
  for (size_t n = items_.size(); n-- > 0;) {
    const Item i = items_[n];
    if (!is_inlined(i.v, root)) continue;
    const Equation& e = *g_.definition(i.v);
    for (const Value o : e.operands()) {
      const At to = operand(e, o, i.at, nest);
      for (Item& j : items_) {
        if (j.v != o || j.at != to) continue;
        // Its own loop, or the loop of the reduction.
        if (i.at == At::full) j.latest = std::max(j.latest, i.latest);
      }
    }
  }
}

bool LoopSharing::fits(Value root, const LoopNest& nest, int32_t step) {
  if (!collect(root, nest, step)) return false;
  compute_stages(root, nest);
  const bool columns = !nest.by_rows();
  if (columns && Shape(std::vector<int64_t>(nest.full.begin(), nest.full.end())).num_elements() < kLargeColumns)
    return refuse("is small, columns are reduced row by row");
  int own = 0;
  for (const Item& i : items_) {
    if (i.v == root) own = i.stage;
    if (columns && i.at == At::full && has_loops_or_calls(g_, *g_.definition(i.v)))
      return refuse("has loops or calls, columns are reduced row by row");
    if (i.v == root || is_inlined(i.v, root)) continue;
    if (a_.is_compared_with_extremum(i.v))
      return refuse("must see the same " + g_.definition(i.v)->primitive() + " as others, to the last bit");
    if (i.at == At::full && i.latest > i.stage && costs_.operations[i.v.id()] >= kExpensiveToRepeat)
      return refuse("needs " + g_.definition(i.v)->primitive() + " in memory, after a reduction");
  }
  const bool whole = without_size_1_dims(g_.shape(root)) == nest.full;
  if (whole && own > 0 && (nest.kept.empty() || columns)) return refuse("needs the reduction's result");
  if (whole && columns && costs_.operations[root.id()] > kColumnCost)
    return refuse("is long, columns are reduced row by row");
  stages_[root.id()] = own;
  return true;
}

}  // namespace calque::plan
