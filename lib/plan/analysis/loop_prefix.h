#pragma once
// Where in a loop nest a value is computed.
#include "plan/analysis/graph_analysis.h"

namespace calque::plan {

/// The elements of the equation's result are indexed by the outermost `prefix` loops of a nest (extents other than 1).
/// By how many of the outermost loops are the elements of its operand indexed? -1: not by a prefix of the loops.
int operand_prefix(const GraphAnalysis& analysis, const Equation& e, Value operand, int prefix);

}  // namespace calque::plan
