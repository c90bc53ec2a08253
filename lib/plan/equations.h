#pragma once
// What the planner asks of single equations.
#include "calque/ir/graph.h"

#include "math/cost.h"

namespace calque::plan {

/// Kernels over fewer elements than this spend their time elsewhere than in memory.
inline constexpr int64_t kSmallSpace = 4096;

/// Extents other than 1.
using Extents = ::calque::detail::InlineVector<int64_t, 5>;
Extents without_units(const Shape& shape);

/// Extents of the dimensions that a reduction takes out of its operand's shape.
Shape reduced_extents(const Equation& e, const Shape& operand);

/// A view whose elements are elements of its operand, every one.
bool always_reads(const Equation& e);

/// What an element of the result costs, of a function of lib/math or one operation.
math::FunctionCost cost_of(const Graph& graph, const Equation& e);
/// About how many operations the equation is for a code generator, those of its sub-graphs included.
uint32_t operations(const Graph& graph, const Equation& e);
/// A loop, or a function that calls another one for rare arguments: too much between the registers of a tile.
bool is_involved(const Graph& graph, const Equation& e);

/// Reductions, cumulative operations and scatters whose results are some of the elements that they see.
bool takes_extremum(const Equation& e);
/// Comparisons of two values.
bool compares(const Equation& e);

}  // namespace calque::plan
