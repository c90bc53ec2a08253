#include "plan/plan.h"

#include <algorithm>
#include <utility>

#include "plan/equation_order.h"
#include "plan/planner.h"
#include "primitives/registry.h"

namespace calque::plan {

Planner::Planner(const Graph& graph, size_t most_buffers) : g(graph) {
  plan.most_buffers = most_buffers;
  plan.in_memory.assign(g.num_values(), false);
  plan.shares.assign(g.num_values(), Value());
  fixed.assign(g.num_values(), 0);
  uses.assign(g.num_values(), 0);
  users.resize(g.num_values());
  cost.assign(g.num_values(), 0);
  own_cost.assign(g.num_values(), 0);
  again.assign(g.num_values(), 0);
  common.assign(g.num_values(), 0);
  level.assign(g.num_values(), 0);
  searched.assign(g.num_values(), false);
  is_output.assign(g.num_values(), false);
  for (const Value v : g.outputs()) is_output[v.id()] = true;
  std::vector<const Equation*> all;
  std::vector<Role> as;
  for (const Equation& e : g.equations()) {
    all.push_back(&e);
    as.push_back(is_elementwise_loop(g, e) ? Role::elementwise : role_of(e));
  }
  for (const uint32_t at : schedule(g, as)) {
    const Equation& e = *all[at];
    position[&e] = order.size();
    order.push_back(&e);
    roles.push_back(as[at]);
    kinds.push_back(roles.back() == Role::contraction ? product_of(g, e) : Product::sums);
    for (Value v : e.operands()) {
      ++uses[v.id()];
      if (users[v.id()].empty() || users[v.id()].back() != &e) users[v.id()].push_back(&e);
    }
  }
  for (uint32_t i = 0; i < g.num_values(); ++i) {
    const ValueKind k = g.kind(Value(i));
    plan.in_memory[i] = k == ValueKind::input || k == ValueKind::constant;
  }
}

void Planner::note(std::string reason) {
  constexpr size_t kMost = 64;
  if (plan.notes.size() < kMost && std::find(plan.notes.begin(), plan.notes.end(), reason) == plan.notes.end())
    plan.notes.push_back(std::move(reason));
}

Plan Planner::run() {
  fix_memory();
  join_reductions();
  store_dear();
  bound_expansion();
  cut_scalars();
  bound_buffers();
  fuse_epilogues();
  form_groups();
  drop_private();
  return std::move(plan);
}

Plan make_plan(const Graph& graph, size_t most_buffers) { return Planner(graph, most_buffers).run(); }

}  // namespace calque::plan
