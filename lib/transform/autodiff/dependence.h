#pragma once
#include <vector>

#include "calque/ir/graph.h"

namespace calque::transform {

/// What is asked of values: whether they depend on some inputs, or whether they have a tangent when those do (only
/// floating and complex values have one, and primitives whose derivative is zero pass none on).
enum class Dependence : uint8_t { values, tangents };

/// For each value of the graph (by id), whether it depends on the marked inputs. Results of control flow are told
/// apart: carries of loops reach a fixpoint.
std::vector<bool> dependent_values(const Graph& graph, const std::vector<bool>& inputs, Dependence kind);
/// The same for the outputs.
std::vector<bool> dependent_outputs(const Graph& graph, const std::vector<bool>& inputs, Dependence kind);

/// Whether values of that type have tangents.
inline bool differentiable(DType dtype) { return is_floating(dtype) || is_complex(dtype); }

}  // namespace calque::transform
