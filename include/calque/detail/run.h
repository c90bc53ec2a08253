#pragma once
// Operations on Arrays only: each is a separate graph that is compiled once and cached by its contents.
#include <span>
#include <string_view>
#include <vector>

#include "calque/detail/trace.h"

namespace calque::detail {

/// Runs `body` on the arrays at once: traces it as a graph whose inputs are the arrays (in that order), compiles,
/// caches and runs that graph, and returns the values of its outputs, on the arrays' device. Inside a running trace it
/// still runs at once. Throws ConcretizationError if the body uses a tracer of a running trace, DeviceError if the
/// arrays are on different devices, ShapeError for an empty array.
std::vector<AnyArray> run_arrays(std::string_view name, std::span<const AnyArray* const> arrays, BodyRef body);

}  // namespace calque::detail
