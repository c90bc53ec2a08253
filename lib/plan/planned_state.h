#pragma once
// What the passes of a plan read and write, beside the graph. Its text is that of the plan.
#include <unordered_map>
#include <utility>
#include <vector>

#include "plan/analysis/graph_analysis.h"
#include "plan/passes/passes.h"
#include "plan/plan.h"

namespace calque::plan {

/// Passes hand on the plan itself and what only later passes read.
struct PlannedGraph::State {
  State(const Graph& graph, const MachineLimits& limits, InputMemory inputs)
      : owned(std::move(inputs.owned)), analysis(graph, {owned, inputs.is_loop_body, inputs.is_sub_graph}) {
    plan.limits = limits;
  }
  std::vector<bool> owned;  ///< by input: its memory may be overwritten
  GraphAnalysis analysis;
  Plan plan = {};
  RecomputationCosts costs = {};
  SplitPoints split_points = {};
  ProductKernels products = {};
  std::unordered_map<const Equation*, std::vector<PlannedGraph>> subgraphs = {};
};

}  // namespace calque::plan
