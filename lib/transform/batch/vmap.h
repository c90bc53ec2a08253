#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "calque/ir/graph.h"

namespace calque::transform {

/// The dimension of a value along which a batch lies, of the batched value; none: the value is the same for all.
using BatchAxis = std::optional<int64_t>;

/// The function of one example becomes one of `size` examples at once: inputs with an axis in `in_axes` gain a
/// dimension there, and outputs gain one at `out_axes` (in [0, rank of the batched value)). An output whose axis is
/// none must be the same for all examples, else ShapeError. Control flow stays control flow: a batched predicate of a
/// branch becomes a select, a batched condition of a loop a loop for each element.
Graph vmap(const Graph& graph, const std::vector<BatchAxis>& in_axes, int64_t size,
           const std::vector<BatchAxis>& out_axes);

}  // namespace calque::transform
