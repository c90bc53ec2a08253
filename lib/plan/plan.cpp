#include "plan/plan.h"

#include <algorithm>
#include <array>
#include <utility>

#include "plan/analysis/graph_analysis.h"
#include "plan/passes/passes.h"

namespace calque::plan {

void Remarks::add(std::string reason) {
  constexpr size_t kMost = 64;
  if (reasons_.size() < kMost && std::find(reasons_.begin(), reasons_.end(), reason) == reasons_.end())
    reasons_.push_back(std::move(reason));
}

namespace {

/// What passes hand on: the plan itself, and what only later passes read.
struct PlanState {
  Plan plan;
  RecomputationCosts costs;
  SplitPoints split_points;
  ProductKernels products;
};

struct PlanPass {
  PassInfo info;
  void (*run)(const GraphAnalysis&, PlanState&);
};

/// In order, each with its inputs and outputs: nothing else passes between them.
constexpr PlanPass kPasses[] = {
    {{"materialize", "materializes values that must have memory whatever fuses"},
     [](const GraphAnalysis& a, PlanState& s) { s.plan.values = materialize(a, s.plan.remarks); }},
    {{"fuse-reductions", "fuses reductions into the kernels of their users"},
     [](const GraphAnalysis& a, PlanState& s) { fuse_reductions(a, s.plan.values); }},
    {{"materialize-expensive", "materializes values that cost more to recompute than to load"},
     [](const GraphAnalysis& a, PlanState& s) { s.costs = materialize_expensive(a, s.plan.values, s.plan.remarks); }},
    {{"bound-rematerialization", "materializes values that would be recomputed at too many indices"},
     [](const GraphAnalysis& a, PlanState& s) { bound_rematerialization(a, s.plan.values); }},
    {{"split-scalars", "splits long straight-line scalar code into kernels"},
     [](const GraphAnalysis& a, PlanState& s) { s.split_points = split_scalars(a, s.plan.values); }},
    {{"bound-buffers", "splits straight-line code over very many arrays into kernels"},
     [](const GraphAnalysis& a, PlanState& s) {
       bound_buffers(a, s.plan.most_buffers, s.plan.values, s.split_points);
     }},
    {{"fuse-epilogues", "fuses what is computed of a product's elements into the product"},
     [](const GraphAnalysis& a, PlanState& s) { s.products = fuse_epilogues(a, s.plan.values, s.plan.remarks); }},
    {{"form-fusion-groups", "distributes the materialized values among kernels"},
     [](const GraphAnalysis& a, PlanState& s) {
       FusionGroups formed = form_fusion_groups(a, s.plan.values, s.costs, s.split_points, s.products, s.plan.remarks);
       s.plan.groups = std::move(formed.groups);
       s.plan.steps = std::move(formed.steps);
     }},
    {{"drop-private", "gives values that only their own loop reads no memory"},
     [](const GraphAnalysis& a, PlanState& s) { drop_private(a, s.plan.values, s.plan.groups); }},
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

Plan make_plan(const Graph& graph, size_t most_buffers, PassLog* log) {
  const GraphAnalysis analysis(graph);
  PlanState state;
  state.plan.most_buffers = most_buffers;
  const PlanText text{graph, state.plan};
  for (const PlanPass& pass : kPasses)
    run_logged(log, pass.info.name, PassLog::Over::part, text, [&] { pass.run(analysis, state); });
  return std::move(state.plan);
}

}  // namespace calque::plan
