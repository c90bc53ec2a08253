#pragma once
#include <vector>

#include "calque/ir/graph.h"

namespace calque::transform {

/// The result of partial evaluation: two graphs that run in sequence. `known` computes everything that does not depend
/// on the unknown inputs, `unknown` the rest.
struct PartialEval {
  /// Inputs: the graph's known ones. Outputs: the graph's known outputs in order, then residuals.
  Graph known;
  /// Inputs: the residuals, then the graph's unknown inputs. Outputs: the graph's unknown outputs in order.
  Graph unknown;
  /// For each output of the graph, whether it is an output of `unknown`.
  std::vector<bool> unknown_outputs;
  size_t num_residuals = 0;
};

/// Partially evaluates a graph with respect to the inputs marked in `unknown`, inside branches and scans too: a scan
/// becomes a known scan that stacks residuals of each step, and an unknown one. Residuals are values that are expensive
/// to recompute (loop carries, reductions, contractions, transcendental functions); chains of rematerializable
/// equations are recomputed in the unknown graph.
PartialEval partial_eval(const Graph& graph, const std::vector<bool>& unknown);

}  // namespace calque::transform
