#include "plan/plan.h"

#include <algorithm>
#include <utility>

#include "plan/passes/passes.h"
#include "plan/planned_state.h"

namespace calque::plan {

void Remarks::add(std::string reason) {
  constexpr size_t kMost = 64;
  if (reasons_.size() < kMost && std::find(reasons_.begin(), reasons_.end(), reason) == reasons_.end())
    reasons_.push_back(std::move(reason));
}

PlannedGraph::PlannedGraph(const Graph& graph, const MachineLimits& limits, std::vector<bool> owned)
    : PlannedGraph(std::make_unique<State>(graph, limits, InputMemory{std::move(owned)})) {}
PlannedGraph::PlannedGraph(std::unique_ptr<State> state) : state_(std::move(state)) {
  const Graph& graph = state_->analysis.graph;
  for (const Equation& e : graph.equations()) {
    if (!runs_as_step(graph, e, state_->analysis.kind(e)) || e.subgraphs().empty()) continue;
    std::vector<PlannedGraph>& inner = state_->subgraphs[&e];
    for (size_t i = 0; i < e.subgraphs().size(); ++i)
      inner.push_back(
          PlannedGraph(std::make_unique<State>(e.subgraphs()[i], state_->plan.limits, memory_of_inputs(graph, e, i))));
  }
}
PlannedGraph::PlannedGraph(PlannedGraph&&) noexcept = default;
PlannedGraph& PlannedGraph::operator=(PlannedGraph&&) noexcept = default;
PlannedGraph::~PlannedGraph() = default;

const Graph& PlannedGraph::graph() const { return state_->analysis.graph; }
const Plan& PlannedGraph::plan() const { return state_->plan; }
bool PlannedGraph::is_update_step(const Equation& equation) const {
  return state_->analysis.in_place.is_update(equation);
}
std::span<const PlannedGraph> PlannedGraph::subgraphs(const Equation& equation) const {
  const auto found = state_->subgraphs.find(&equation);
  return found == state_->subgraphs.end() ? std::span<const PlannedGraph>() : found->second;
}

/// In order, each with its inputs and outputs: nothing else passes between them.
struct PlanPasses {
  using State = PlannedGraph::State;

  template <void (*pass)(State&)>
  static void over_all(PlannedGraph& planned) {
    pass(*planned.state_);
    for (auto& [equation, subgraphs] : planned.state_->subgraphs)
      for (PlannedGraph& inner : subgraphs) over_all<pass>(inner);
  }

  /// Sub-graphs first.
  static void reuse_in_all(PlannedGraph& planned) {
    State& s = *planned.state_;
    for (auto& [equation, subgraphs] : s.subgraphs)
      for (PlannedGraph& inner : subgraphs) reuse_in_all(inner);
    reuse_memory(planned, s.analysis, s.plan.groups, s.plan.steps, s.plan.values, s.plan.kept);
  }

  static void form_groups(State& s) {
    FusionGroups formed =
        form_fusion_groups(s.analysis, s.plan.values, s.costs, s.split_points, s.products, s.plan.remarks);
    s.plan.groups = std::move(formed.groups);
    s.plan.steps = std::move(formed.steps);
  }

  static constexpr PlanPass kList[] = {
      {{"materialize", "materializes values that must have memory whatever fuses"},
       &over_all<[](State& s) { s.plan.values = materialize(s.analysis, s.plan.remarks); }>},
      {{"fuse-reductions", "fuses reductions into the kernels of their users"},
       &over_all<[](State& s) { fuse_reductions(s.analysis, s.plan.values); }>},
      {{"materialize-expensive", "materializes values that cost more to recompute than to load"},
       &over_all<[](State& s) {
         s.costs = materialize_expensive(s.analysis, s.plan.limits, s.plan.values, s.plan.remarks);
       }>},
      {{"bound-rematerialization", "materializes values that would be recomputed at too many indices"},
       &over_all<[](State& s) { bound_rematerialization(s.analysis, s.plan.values); }>},
      {{"split-scalars", "splits long straight-line scalar code into kernels"},
       &over_all<[](State& s) { s.split_points = split_scalars(s.analysis, s.plan.values); }>},
      {{"bound-buffers", "splits straight-line code over very many arrays into kernels"}, &over_all<[](State& s) {
         bound_buffers(s.analysis, s.plan.limits.most_buffers, s.plan.values, s.split_points);
       }>},
      {{"fuse-epilogues", "fuses what is computed of a product's elements into the product"},
       &over_all<[](State& s) { s.products = fuse_epilogues(s.analysis, s.plan.values, s.plan.remarks); }>},
      {{"form-fusion-groups", "distributes the materialized values among kernels"}, &over_all<&form_groups>},
      {{"drop-private", "gives values that only their own loop reads no memory"},
       &over_all<[](State& s) { drop_private(s.analysis, s.plan.values, s.plan.groups); }>},
      {{"reuse-memory", "gives results the memory of operands that no later step reads"}, &reuse_in_all},
  };
};

std::span<const PlanPass> plan_passes() { return PlanPasses::kList; }

}  // namespace calque::plan
