#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "calque/ir/graph.h"

namespace calque::transform {

/// The batch dimension of a batched value; none: the value is the same for all examples.
using BatchAxis = std::optional<int64_t>;

/// Vectorizes a function of one example over `size` examples: inputs with an axis in `in_axes` gain a dimension there,
/// and outputs gain one at `out_axes` (in [0, rank of the batched value)). An output whose axis is none must be the
/// same for all examples; otherwise throws ShapeError. Control flow is preserved, except that a branch with a batched
/// predicate becomes a select and a loop with a batched condition becomes a loop for each element. Collective equations
/// whose group is `axis`, a MappedAxis, communicate among the examples.
Graph vmap(const Graph& graph, const std::vector<BatchAxis>& in_axes, int64_t size,
           const std::vector<BatchAxis>& out_axes, const Opaque* axis = nullptr);

}  // namespace calque::transform
