#pragma once
// How closely a compiled graph must agree with the reference evaluator.
#include <optional>
#include <vector>

#include "calque/compare.h"
#include "calque/ir/graph.h"

#include "compile/executable.h"

namespace calque::cli {

/// For each output of the graph: the coarsest float type that holds a value on the way from an operation whose
/// roundings the mode leaves open (docs/semantics.md: contracted sums, 16-bit values kept in f32, the order of sums,
/// functions) to the output. None if there is no such operation: the output is defined bit for bit.
std::vector<std::optional<DType>> open_roundings(const Graph& graph, const runtime::CompileOptions& options);

/// The tolerance for results that differ by roundings of that type, for results of moderate magnitude.
Tolerance tolerance_of(std::optional<DType> coarsest);

}  // namespace calque::cli
