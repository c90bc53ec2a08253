#pragma once
#include <vector>

#include "calque/ir/graph.h"

namespace calque::transform {

/// Which property of values is computed: whether they depend on the marked inputs, or whether they have a tangent when
/// those inputs do (only floating and complex values have one, and primitives whose derivative is zero propagate none).
enum class Dependence : uint8_t { values, tangents };

/// For each value of the graph (by id), whether it depends on the marked inputs. Results of control flow are
/// distinguished; for the carries of loops this is a fixpoint.
std::vector<bool> dependent_values(const Graph& graph, const std::vector<bool>& inputs, Dependence kind);
/// The same, of values, for a graph that `partial_eval_control_flow` made for these inputs: its equations have either
/// only dependent results or none, so that sub-graphs need not be visited.
std::vector<bool> dependent_values_of_partitioned(const Graph& graph, const std::vector<bool>& inputs);
/// As `dependent_values`, for the outputs.
std::vector<bool> dependent_outputs(const Graph& graph, const std::vector<bool>& inputs, Dependence kind);

/// Whether values of that type have tangents.
inline bool differentiable(DType dtype) { return is_floating(dtype) || is_complex(dtype); }

}  // namespace calque::transform
