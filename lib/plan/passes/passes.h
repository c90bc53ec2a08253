#pragma once
// The passes of a plan. Each is a function in the file of its name; it reads its const arguments, changes those that
// are not const, and returns what it adds. plan.cpp runs them in this order.
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "plan/analysis/graph_analysis.h"
#include "plan/plan.h"

namespace calque::plan {

/// By value id: about how many operations it takes to compute the value from materialized ones. Not lowered when the
/// value is itself materialized.
struct RecomputationCosts {
  std::vector<double> operations;
};

/// At `position` of the equation order, new kernels over `space` (without size-1 dimensions) begin.
struct SplitPoint {
  size_t position;
  Extents space;
};
/// By position.
using SplitPoints = std::vector<SplitPoint>;

/// The kernels of tiled products, each with what is computed of its elements.
struct ProductKernels {
  std::vector<FusionGroup> groups;
  std::unordered_map<uint32_t, size_t> group_of_root;  ///< by value id: position in `groups`
};

/// All kernels, and the steps that run them in order.
struct FusionGroups {
  std::vector<FusionGroup> groups;
  std::vector<Step> steps;
};

/// Values that must have memory whatever fuses: outputs, and what is read or written by operations that are no
/// functions of single elements. Reductions, except short ones, have memory at first.
MaterializedValues materialize(const GraphAnalysis& analysis, Remarks& remarks);

/// Inlines reductions all of whose uses are in one kernel, in loops that run once for each element of the reduction.
void fuse_reductions(const GraphAnalysis& analysis, MaterializedValues& values);

/// Materializes elementwise values that several kernels, or several elements of one kernel, would recompute at a higher
/// cost than a pass through memory.
RecomputationCosts materialize_expensive(const GraphAnalysis& analysis, const MachineLimits& limits,
                                         MaterializedValues& values, Remarks& remarks);

/// An element of a concatenation that is not written operand by operand is selected from elements of all operands.
/// Whether those that are not selected cost more than a pass through memory.
bool selects_expensively(const RecomputationCosts& costs, const Equation& concatenation);

/// Materializes values that one element of a root would need at too many indices, or through too many index changes.
void bound_rematerialization(const GraphAnalysis& analysis, MaterializedValues& values);

/// Splits long straight-line scalar code into kernels; values that are live across a split point are materialized.
SplitPoints split_scalars(const GraphAnalysis& analysis, MaterializedValues& values);

/// Splits straight-line code that reads or writes very many arrays, each iteration space separately. A kernel may have
/// `most_buffers` if many values are live at every position.
void bound_buffers(const GraphAnalysis& analysis, size_t most_buffers, MaterializedValues& values,
                   SplitPoints& split_points);

/// Finds what is computed of the elements of tiled products while they are in registers. A product's own result is
/// inlined if nothing else needs it.
ProductKernels fuse_epilogues(const GraphAnalysis& analysis, MaterializedValues& values, Remarks& remarks);

/// Distributes the materialized values among kernels.
FusionGroups form_fusion_groups(const GraphAnalysis& analysis, const MaterializedValues& values,
                                const RecomputationCosts& costs, const SplitPoints& split_points,
                                const ProductKernels& products, Remarks& remarks);

/// Inlines roots that only the loop that computes them reads.
void drop_private(const GraphAnalysis& analysis, MaterializedValues& values, std::vector<FusionGroup>& groups);

/// Which results take over the memory of an operand that no later step reads. `planned`: the graph, in whose sub-graphs
/// that is known. `kept`: set to the others.
void reuse_memory(const PlannedGraph& planned, const GraphAnalysis& analysis, const std::vector<FusionGroup>& groups,
                  const std::vector<Step>& steps, MaterializedValues& values, std::vector<KeptValue>& kept);

}  // namespace calque::plan
