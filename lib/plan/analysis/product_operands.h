#pragma once
// Which operands of a product are computed in its kernel.
#include "plan/analysis/graph_analysis.h"
#include "plan/materialized_values.h"

namespace calque::plan {

/// An elementwise operand of a tiled product, computed while it is packed. (Expensive ones are materialized anyway.)
bool is_prologue(const GraphAnalysis& analysis, const MaterializedValues& values, const Equation& product, Value v);

/// A few operations used only by products that read each element once: recomputing them in each product is faster than
/// a pass through memory.
bool is_faster_recomputed(const GraphAnalysis& analysis, const MaterializedValues& values, Value v);

}  // namespace calque::plan
