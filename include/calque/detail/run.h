#pragma once
// Operations on Arrays alone: each is a graph of its own that is compiled once and cached by its contents.
#include <span>
#include <string_view>
#include <vector>

#include "calque/detail/trace.h"

namespace calque::detail {

/// Runs `body` on the arrays at once: traces it as a graph whose inputs are the arrays (in that order), compiles,
/// caches and runs that graph, and returns the values of its outputs. Inside a running trace it still runs at once; the
/// body may then not use tracers of that trace (ConcretizationError). The result is on the arrays' device; DeviceError
/// when they are on different ones, ShapeError for an empty array.
std::vector<AnyArray> run_arrays(std::string_view name, std::span<const AnyArray* const> arrays, const TraceBody& body);

}  // namespace calque::detail
