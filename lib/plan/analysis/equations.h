#pragma once
// Properties of single equations that the planner uses.
#include "calque/ir/graph.h"

#include "math/cost.h"

namespace calque::plan {

/// Kernels over fewer elements than this are not bound by memory traffic.
inline constexpr int64_t kSmallSpace = 4096;

/// Extents other than 1.
using Extents = ::calque::detail::InlineVector<int64_t, 5>;
Extents without_size_1_dims(const Shape& shape);

/// Extents of the dimensions that a reduction removes from its operand's shape.
Shape reduced_extents(const Equation& e, const Shape& operand);

/// A view each of whose elements is an element of its operand, unconditionally.
bool always_reads(const Equation& e);

/// A reshape that only adds or removes size-1 dimensions: its elements are those of its operand, in the same loops.
bool only_changes_size_1_dims(const Graph& graph, const Equation& e);
/// A reduction over a few elements, such as the coordinates of a point: treated as an elementwise operation.
bool is_short_reduction(const Graph& graph, const Equation& reduction);

/// The cost of one element of the result: that of a function of lib/math, or one operation.
math::FunctionCost cost_of(const Graph& graph, const Equation& e);
/// Approximate number of operations that the equation expands to in generated code, including its sub-graphs.
uint32_t operations(const Graph& graph, const Equation& e);
/// A loop, or a function with a cold path that is a call: not computed while a tile occupies the registers.
bool has_loops_or_calls(const Graph& graph, const Equation& e);

/// Reductions, cumulative operations and scatters whose results are elements of their operands.
bool takes_extremum(const Equation& e);
/// Comparisons of two values.
bool compares(const Equation& e);

}  // namespace calque::plan
