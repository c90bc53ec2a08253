#pragma once
// Which updates (dynamic_update_slice, scatters) are steps of their own that write into the memory of their first
// operand, and an order of the equations in which what else reads that operand comes before.
#include <cstdint>
#include <string>
#include <vector>

#include "calque/ir/graph.h"

#include "plan/plan.h"

namespace calque::plan {

/// What is known of the memory of a graph's inputs.
struct InputMemory {
  std::vector<bool> owned;    ///< by input: it may be overwritten. Missing entries mean no
  bool is_loop_body = false;  ///< the outputs are the next values of owned inputs
  bool is_sub_graph = false;
};

/// The memory of the inputs of a sub-graph of control flow.
InputMemory memory_of_inputs(const Graph& graph, const Equation& equation, size_t subgraph);

/// An operand whose memory a result of the equation, an update or control flow, may take over.
struct Overwriting {
  const Equation* equation = nullptr;
  Value operand;
  Value result;
};
/// The pairs of an operand and a result of an equation that could be the same memory: the first operand of an update
/// and its result, the initial values of a loop that is a step and its results, an operand of branches and a result
/// that every branch either makes of it, or computes without it.
std::vector<Overwriting> overwritings_of(const Equation& equation);
/// As the user wrote it, with its line: `set (a.cpp:3)`, `the loop (a.cpp:5)`.
std::string name_in_source(const Equation& e);
/// Why a result does not take over the memory of an operand: that `reader`, if there is one, reads the operand later.
std::string reason_against(const Overwriting& o, const Equation* reader);
/// Whether an operand of an equation or an output of the graph is this value.
bool is_used(const Graph& graph, Value v);

struct InPlaceUpdates {
  InPlaceUpdates(const Graph& graph, const InputMemory& memory);

  /// The equations in an order that their operands and effects allow.
  std::vector<const Equation*> sequence;
  std::vector<Overwriting> overwritings;  ///< in that order
  std::vector<KeptValue> kept;            ///< operands that are not among these, although they could be
  bool is_update(const Equation& e) const;

 private:
  std::vector<bool> updates_;  // by value id: results of updates that are steps
};

}  // namespace calque::plan
