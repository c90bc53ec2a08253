#pragma once
// The transformations as used by the rules of control flow and by one another.
#include <optional>

#include "primitives/core/transformation.h"

namespace calque::transform {

/// The transformations that rules apply to their sub-graphs.
const primitives::SubgraphTransforms& subgraph_transforms();

/// SubgraphTransforms::jvp.
Graph jvp_wanted(const Graph& graph, const std::vector<bool>& active, const std::vector<bool>& wanted);
/// SubgraphTransforms::transpose; if `keep_known`, the outputs without a cotangent, which must not depend on a linear
/// input, are returned first.
Graph transpose_given(const Graph& graph, const std::vector<bool>& linear, const std::vector<bool>& given,
                      bool keep_known);
/// SubgraphTransforms::transpose_partitioned; `keep_known` as above.
Graph transpose_partitioned(const Graph& from, const std::vector<bool>& linear, const std::vector<bool>& given,
                            bool keep_known);
/// SubgraphTransforms::batch.
Graph batch_wanted(const Graph& graph, const std::vector<bool>& inputs, int64_t size, std::vector<bool>& outputs);

}  // namespace calque::transform
