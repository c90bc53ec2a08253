#pragma once
// The transformations as rules of control flow see them, and as they build on one another.
#include <optional>

#include "primitives/core/transformation.h"

namespace calque::transform {

/// What rules ask for their sub-graphs.
const primitives::SubgraphTransforms& subgraph_transforms();

/// SubgraphTransforms::jvp.
Graph jvp_wanted(const Graph& graph, const std::vector<bool>& active, const std::vector<bool>& wanted);
/// SubgraphTransforms::transpose; if `keep_known`, the outputs without a cotangent come first, which
/// must depend on no linear input.
Graph transpose_given(const Graph& graph, const std::vector<bool>& linear, const std::vector<bool>& given,
                      bool keep_known);
/// SubgraphTransforms::batch.
Graph batch_wanted(const Graph& graph, const std::vector<bool>& inputs, int64_t size, std::vector<bool>& outputs);

}  // namespace calque::transform
