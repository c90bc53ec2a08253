#pragma once
// Which concatenations are written operand by operand: each operand is then computed over its own space, straight into
// its slice of the result.
#include <cstdint>

#include "plan/analysis/graph_analysis.h"
#include "plan/materialized_values.h"

namespace calque::plan {

/// Whether a value, if it were a concatenation, would be written operand by operand: it is materialized, or is an
/// operand of a concatenation that is. Reshapes in between are possible if its elements are contiguous there (dense).
enum class Destination : uint8_t { none, strided, dense };
Destination destination(const GraphAnalysis& analysis, const MaterializedValues& values, Value v);

/// An operand of a concatenation that is written operand by operand: it is computed in the concatenation's kernels,
/// over its own space.
bool is_concatenation_operand(const GraphAnalysis& analysis, const MaterializedValues& values, Value v);

/// An element of a concatenation is selected by comparing its index with the range of each operand in turn. With this
/// many operands, reading it from memory is faster.
bool has_many_operands(const Equation& concatenation);

}  // namespace calque::plan
