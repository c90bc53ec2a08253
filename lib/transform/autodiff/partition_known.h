#pragma once
#include <vector>

#include "calque/ir/graph.h"

namespace calque::transform {

/// A graph partitioned into a known and an unknown graph.
struct KnownUnknown {
  /// Inputs: the known inputs. Outputs: the known outputs, then `computed` residuals.
  Graph known;
  /// Inputs: the known inputs `forwarded`, the computed residuals, the unknown inputs. Outputs: the unknown outputs.
  Graph unknown;
  std::vector<size_t> forwarded;  ///< positions among the graph's inputs, in order
  size_t computed = 0;
};

/// Partitions a graph by dependence on the inputs marked in `unknown`. `unknown_outputs` must mark all outputs that
/// depend on them and may mark others. Inputs marked in `expensive` cost memory when they are forwarded, as loop
/// carries do; other inputs are in memory anyway.
KnownUnknown partition_known(const Graph& graph, const std::vector<bool>& unknown,
                             const std::vector<bool>& unknown_outputs, const std::vector<bool>& expensive);

/// The graph with only the marked outputs and the inputs that they need; `kept` receives the positions of the remaining
/// inputs.
Graph restricted(const Graph& graph, const std::vector<bool>& outputs, std::vector<size_t>& kept);

}  // namespace calque::transform
