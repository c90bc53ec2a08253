#pragma once
// The plan of one graph: which values are materialized and which kernels compute them. A kernel has one parallel index
// space; its roots are values over that space. Everything between its roots and materialized values is computed inside
// the kernel, element by element, at its use. Sub-graphs of control flow that stays outside kernels have separate
// plans.
//
// analysis/ holds what is known of a graph before anything is decided; passes/ holds one file for each decision;
// plan.cpp is the list of passes and says what each reads and writes.
#include <iosfwd>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "calque/ir/graph.h"

#include "ir/pass_log.h"
#include "plan/analysis/equations.h"
#include "plan/materialized_values.h"
#include "primitives/core/code_generation.h"

namespace calque::plan {

using FusionKind = primitives::FusionKind;
/// How an equation is fused, a trait of its primitive.
FusionKind fusion_kind_of(const Equation& equation);

/// A while loop over the elements of its results: its kernel treats it as an elementwise operation.
bool is_elementwise_loop(const Graph& graph, const Equation& equation);

/// Whether a loop or branch can run inside a kernel: its condition, body and carries are functions over its index
/// space, so that the state of each element stays in registers. `reason`, if given, receives the reason when it cannot.
bool runs_per_element(const Graph& graph, const Equation& equation, std::string* reason = nullptr);

/// Whether the equation, of that kind in the graph, is a step of the plan: control flow outside kernels, or an effect.
bool runs_as_step(const Graph& graph, const Equation& equation, FusionKind kind);

/// One kernel: computes its roots at every index of the space.
struct FusionGroup {
  Shape space;
  std::vector<Value> roots;
  /// The anchor op: the scan, cumulative operation, scatter or tiled product that determines the kernel's loops. Null
  /// for pointwise operations, reductions, and products computed as one dot product per element.
  const Equation* anchor = nullptr;
  /// If pointwise operations and reductions share their loops: the extents of the pointwise ones (without size-1
  /// dimensions), and the dimensions that are reduced, whose loops are the inner ones. Empty if no loops are shared.
  Extents loops = {}, reduced = {};
};

/// Steps in execution order.
struct Step {
  int32_t group = -1;                  ///< a fusion group (position in Plan::groups), or
  const Equation* equation = nullptr;  ///< control flow outside kernels, or an effect
};

/// Kernels that would have many more buffers than this are split, whatever recomputation and memory traffic that costs.
inline constexpr size_t kMostBuffers = 3000;

/// What the machine that kernels run on makes of a plan.
struct MachineLimits {
  size_t most_buffers = kMostBuffers;  ///< approximate limit per kernel
  /// A load and a store of a value cost about as much as this many operations on it, where that many elements are
  /// computed at once that memory is the bottleneck.
  double operations_per_pass = 8;
};

/// What was not fused, and why; printed by `explain`.
class Remarks {
 public:
  /// Each reason is recorded once, up to a limit.
  void add(std::string reason);
  auto begin() const { return reasons_.begin(); }
  auto end() const { return reasons_.end(); }

 private:
  std::vector<std::string> reasons_;
};

/// A value whose memory a result of an equation could have taken over, and why it does not.
struct KeptValue {
  Value result;
  std::string reason;  ///< empty if it belongs to the caller
};

struct Plan {
  MaterializedValues values;
  std::vector<FusionGroup> groups;
  std::vector<Step> steps;
  Remarks remarks;
  std::vector<KeptValue> kept = {};  ///< each result once
  MachineLimits limits = {};
};

/// A simplified graph without call-like equations and its plan, and those of the sub-graphs of control flow that stays
/// outside kernels. Refers to the graph.
class PlannedGraph {
 public:
  /// Nothing is decided yet. `owned`: by input, whether its memory may be overwritten; missing entries mean no.
  explicit PlannedGraph(const Graph& graph, const MachineLimits& limits = {}, std::vector<bool> owned = {});
  PlannedGraph(PlannedGraph&&) noexcept;
  PlannedGraph& operator=(PlannedGraph&&) noexcept;
  ~PlannedGraph();

  const Graph& graph() const;
  const Plan& plan() const;
  /// Whether the equation is an update that writes into a copy of its first operand, or into that operand itself if the
  /// result reuses its memory.
  bool is_update_step(const Equation& equation) const;
  /// The sub-graphs of control flow that is a step of the plan, in their order; of other equations none.
  std::span<const PlannedGraph> subgraphs(const Equation& equation) const;

 private:
  struct State;
  explicit PlannedGraph(std::unique_ptr<State> state);
  friend struct PlanPasses;
  friend class PlanPrinter;
  friend class PlanParser;
  friend class PlanVerifier;
  std::unique_ptr<State> state_;
};

/// Prints the graph, with comments that say which values have memory, then a section with the plan: values, kernels and
/// steps, and the plans of sub-graphs.
std::ostream& operator<<(std::ostream& out, const PlannedGraph& planned);
/// Throws CompileError if a plan, of which groups need not have been formed yet, breaks what lowering relies on.
void verify(const PlannedGraph& planned);
/// Whether the text has the section of a plan, and the offset at which it begins. Throws ParseError if it has none.
bool has_section(std::string_view text);
size_t plan_section(std::string_view text);
/// The plan of such a text, whose graph has been parsed. Throws ParseError, with line and column.
PlannedGraph parse_plan(std::string_view text, const Graph& graph, const MachineLimits& limits);

/// A pass over a graph and its sub-graphs.
struct PlanPass {
  PassInfo info;
  void (*run)(PlannedGraph& planned) = nullptr;
};
/// In order.
std::span<const PlanPass> plan_passes();

}  // namespace calque::plan
