#include "transform/autodiff/subgraphs.h"

#include "ir/fork.h"
#include "transform/autodiff/dependence.h"

namespace calque::transform {
namespace {

using primitives::SubgraphTransforms;

class Transforms final : public SubgraphTransforms {
 public:
  std::vector<bool> active_outputs(const Graph& graph, const std::vector<bool>& active) const override {
    return transform::dependent_outputs(graph, active, Dependence::tangents);
  }
  std::vector<bool> dependent_outputs(const Graph& graph, const std::vector<bool>& inputs) const override {
    return transform::dependent_outputs(graph, inputs, Dependence::values);
  }
  Graph jvp(const Graph& graph, const std::vector<bool>& active, const std::vector<bool>& wanted) const override {
    return jvp_wanted(graph, active, wanted);
  }
  Graph transpose(const Graph& graph, const std::vector<bool>& linear, const std::vector<bool>& given) const override {
    return transpose_given(graph, linear, given, /*keep_known=*/false);
  }
  Graph transpose_partitioned(const Graph& graph, const std::vector<bool>& linear,
                              const std::vector<bool>& given) const override {
    return transform::transpose_partitioned(graph, linear, given, /*keep_known=*/false);
  }
  Graph batch(const Graph& graph, const std::vector<bool>& inputs, int64_t size,
              std::vector<bool>& outputs) const override {
    return batch_wanted(graph, inputs, size, outputs);
  }
};

}  // namespace

const SubgraphTransforms& subgraph_transforms() {
  return process_wide([] { return new const Transforms; });
}

}  // namespace calque::transform
