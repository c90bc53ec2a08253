#pragma once
// The plan of one graph: which values live in memory, and which kernels compute them. A kernel has one parallel index
// space; its roots are values on that space. Everything between its roots and the values in memory is computed inside
// it, element by element, where it is needed. Sub-graphs of control flow that stays outside kernels have plans of their
// own.
#include <string>
#include <vector>

#include "calque/ir/graph.h"

#include "plan/equations.h"

namespace calque::plan {

/// How an equation takes part in planning.
enum class Role : uint8_t {
  elementwise,  ///< one element of the result from the same element of each operand
  view,         ///< an element of the result is some element of some operand
  reduction,    ///< reduce_*, argmax, argmin
  contraction,  ///< dot_general
  cumulative,   ///< cumsum and its like
  scatter,      ///< starts a kernel that updates a copy
  loop,         ///< while, scan
  branch,       ///< cond, switch
  effect,       ///< debug_print, host_call
};
Role role_of(const Equation& equation);

/// A while loop over the elements of its own results: to its kernel an operation like any other elementwise one.
bool is_elementwise_loop(const Graph& graph, const Equation& equation);

/// Whether a loop or branch can run inside a kernel: its condition, body and carries are functions on its own index
/// space, so that the state of each element stays in registers. `reason`, if given, receives why not.
bool runs_per_element(const Graph& graph, const Equation& equation, std::string* reason = nullptr);

/// One kernel: computes its roots for every index of the space.
struct Group {
  Shape space;
  std::vector<Value> roots;
  /// The scan, cumulative operation, scatter or tiled product that the kernel is built around; null for maps and
  /// reductions, and for products whose elements are sums of their own.
  const Equation* around = nullptr;
  /// Where maps and reductions share their loops: the extents of the maps (1 left out), and which of them the
  /// reductions run over, whose loops are the inner ones. Empty where nothing is shared.
  Extents loops = {}, reduced = {};
};

/// Steps in execution order.
struct Step {
  int32_t group = -1;                  ///< a kernel, or
  const Equation* equation = nullptr;  ///< control flow outside kernels, or an effect
};

/// Kernels that would have many more buffers than this are cut, whatever that repeats and moves.
inline constexpr size_t kMostBuffers = 3000;

struct Plan {
  /// By value id: lives in memory. Inputs and constants are; literals never.
  std::vector<bool> in_memory;
  /// By value id, where valid: lives in the memory of that value, row-major, and is computed by no kernel.
  std::vector<Value> shares;
  std::vector<Group> groups;
  std::vector<Step> steps;
  /// What was not fused, and why: for `explain`.
  std::vector<std::string> notes;
  size_t most_buffers = kMostBuffers;  ///< of a kernel, about
};

/// Plans a simplified graph without call-like equations.
Plan make_plan(const Graph& graph, size_t most_buffers = kMostBuffers);

}  // namespace calque::plan
