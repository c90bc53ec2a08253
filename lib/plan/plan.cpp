#include "plan/plan.h"

#include <algorithm>
#include <array>
#include <utility>

#include "plan/equation_order.h"
#include "plan/planner.h"
#include "primitives/registry.h"

namespace calque::plan {

Planner::Planner(const Graph& graph, size_t most_buffers) : g(graph) {
  plan.most_buffers = most_buffers;
  plan.materialized.assign(g.num_values(), false);
  plan.shares.assign(g.num_values(), Value());
  fixed.assign(g.num_values(), 0);
  uses.assign(g.num_values(), 0);
  users.resize(g.num_values());
  cost.assign(g.num_values(), 0);
  own_cost.assign(g.num_values(), 0);
  repeated_cost.assign(g.num_values(), 0);
  shared_cost.assign(g.num_values(), 0);
  level.assign(g.num_values(), 0);
  searched.assign(g.num_values(), false);
  is_output.assign(g.num_values(), false);
  for (const Value v : g.outputs()) is_output[v.id()] = true;
  std::vector<const Equation*> all;
  std::vector<FusionKind> as;
  for (const Equation& e : g.equations()) {
    all.push_back(&e);
    as.push_back(is_elementwise_loop(g, e) ? FusionKind::elementwise : fusion_kind_of(e));
  }
  for (const uint32_t at : schedule(g, as)) {
    const Equation& e = *all[at];
    position[&e] = order.size();
    order.push_back(&e);
    fusion_kinds.push_back(as[at]);
    product_kinds.push_back(fusion_kinds.back() == FusionKind::contraction ? product_of(g, e) : Product::dot_products);
    for (Value v : e.operands()) {
      ++uses[v.id()];
      if (users[v.id()].empty() || users[v.id()].back() != &e) users[v.id()].push_back(&e);
    }
  }
  for (uint32_t i = 0; i < g.num_values(); ++i) {
    const ValueKind k = g.kind(Value(i));
    plan.materialized[i] = k == ValueKind::input || k == ValueKind::constant;
  }
}

void Planner::remark(std::string reason) {
  constexpr size_t kMost = 64;
  if (plan.remarks.size() < kMost && std::find(plan.remarks.begin(), plan.remarks.end(), reason) == plan.remarks.end())
    plan.remarks.push_back(std::move(reason));
}

namespace {

struct PlanPass {
  PassInfo info;
  void (Planner::*run)();
};

constexpr PlanPass kPasses[] = {
    {{"materialize", "materializes values that must have memory whatever fuses"}, &Planner::materialize_required},
    {{"fuse-reductions", "fuses reductions into the kernels of their users"}, &Planner::fuse_reductions},
    {{"materialize-expensive", "materializes values that cost more to recompute than to load"},
     &Planner::materialize_expensive},
    {{"bound-rematerialization", "materializes values that would be recomputed at too many indices"},
     &Planner::bound_rematerialization},
    {{"split-scalars", "splits long straight-line scalar code into kernels"}, &Planner::split_scalars},
    {{"bound-buffers", "splits straight-line code over very many arrays into kernels"}, &Planner::bound_buffers},
    {{"fuse-epilogues", "fuses what is computed of a product's elements into the product"}, &Planner::fuse_epilogues},
    {{"form-fusion-groups", "distributes the materialized values among kernels"}, &Planner::form_fusion_groups},
    {{"drop-private", "gives values that only their own loop reads no memory"}, &Planner::drop_private},
};

}  // namespace

std::span<const PassInfo> plan_passes() {
  static constexpr auto kInfos = [] {
    std::array<PassInfo, std::size(kPasses)> infos;
    for (size_t i = 0; i < infos.size(); ++i) infos[i] = kPasses[i].info;
    return infos;
  }();
  return kInfos;
}

Plan Planner::run(PassLog* log) {
  const PlanText text{g, plan};
  for (const PlanPass& pass : kPasses)
    run_logged(log, pass.info.name, PassLog::Over::part, text, [&] { (this->*pass.run)(); });
  return std::move(plan);
}

Plan make_plan(const Graph& graph, size_t most_buffers, PassLog* log) { return Planner(graph, most_buffers).run(log); }

}  // namespace calque::plan
