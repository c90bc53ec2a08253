#pragma once
#include <vector>

#include "calque/ir/graph.h"

namespace calque::transform {

/// A graph in two parts that are graphs of their own.
struct Parts {
  /// Inputs: the known ones. Outputs: the known outputs, then `computed` residuals.
  Graph known;
  /// Inputs: the graph's known inputs `forwarded`, the computed residuals, the unknown inputs. Outputs: the unknown.
  Graph unknown;
  std::vector<size_t> forwarded;  ///< positions among the graph's inputs, in order
  size_t computed = 0;
};

/// The parts of a graph. `unknown_outputs` must hold all that depend on the unknown inputs, and may hold others. Inputs
/// marked in `dear` cost memory when they are forwarded, as carries of loops do; others are there anyway.
Parts part(const Graph& graph, const std::vector<bool>& unknown, const std::vector<bool>& unknown_outputs,
           const std::vector<bool>& dear);

/// The graph with only the outputs that are marked, and without the inputs that these do not need; `kept` receives the
/// positions of those that remain.
Graph restricted(const Graph& graph, const std::vector<bool>& outputs, std::vector<size_t>& kept);

}  // namespace calque::transform
