#pragma once
// Who uses the values of a graph.
#include <cstdint>
#include <vector>

#include "calque/ir/graph.h"

#include "plan/analysis/equation_order.h"

namespace calque::plan {

/// By value id.
struct Uses {
  Uses(const Graph& graph, const EquationOrder& order);

  std::vector<uint32_t> counts;                     ///< operands that are this value
  std::vector<std::vector<const Equation*>> users;  ///< each once, in order
  std::vector<bool> is_output;
};

}  // namespace calque::plan
