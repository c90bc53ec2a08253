#pragma once
#include <vector>

#include "calque/ir/graph.h"

namespace calque::transform {

/// A graph in two parts, which run one after the other: `known` computes all that does not depend on the unknown
/// inputs, `unknown` the rest.
struct Split {
  /// Inputs: the graph's known ones. Outputs: the graph's known outputs in order, then residuals.
  Graph known;
  /// Inputs: the residuals, then the graph's unknown inputs. Outputs: the graph's unknown outputs in order.
  Graph unknown;
  /// Of each output of the graph, whether it is one of `unknown`.
  std::vector<bool> unknown_outputs;
  size_t num_residuals = 0;
};

/// Splits by dependence on the inputs marked in `unknown`, inside branches and scans too: a scan becomes one that
/// computes what is known and keeps residuals of each step, and one of the rest. Residuals are what is dear (loop
/// carries, reductions, contractions, transcendental functions); chains of cheap equations are computed again in the
/// second part.
Split split(const Graph& graph, const std::vector<bool>& unknown);

}  // namespace calque::transform
