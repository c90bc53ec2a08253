#pragma once
// Bit-exact laws: for every operand, both sides give the same value, except for the payload and sign of a NaN. No law
// reassociates, distributes or assumes that a value is finite. In the laws, floats are IEEE floats, `int` is a signed
// or unsigned integer, and c is a literal (of any shape, all elements equal).
#include <optional>

#include "transform/simplify/rewriter.h"

namespace calque::transform {

/// The same graph with the laws below applied wherever their left side matches.
///
/// - An empty array is a literal.
/// - simplify_arithmetic.cpp: identities of add, sub, mul, div, neg, abs, max, min.
/// - simplify_logic.cpp: identities of and, or, xor, not, shifts, comparisons, select.
/// - simplify_convert.cpp: lossless conversions compose.
/// - simplify_views.cpp: identity views are removed, views of views compose, views of splats are splats.
/// - simplify_parts.cpp: select and add of concatenations are concatenations.
Graph simplify_algebra(const Graph& graph);

/// The value that a law gives for one equation, if a law applies.
std::optional<Value> simplify(Rewriter& rewriter, const PendingEquation& pending);

std::optional<Value> simplify_arithmetic(Rewriter& rewriter, const PendingEquation& pending);
std::optional<Value> simplify_logic(Rewriter& rewriter, const PendingEquation& pending);
std::optional<Value> simplify_convert(Rewriter& rewriter, const PendingEquation& pending);
std::optional<Value> simplify_views(Rewriter& rewriter, const PendingEquation& pending);
std::optional<Value> simplify_parts(Rewriter& rewriter, const PendingEquation& pending);

/// v is a literal whose element is the number k, which every dtype represents; zero means +0.
bool is_number(const Rewriter& rewriter, Value v, int k);
/// v is a float literal -0.
bool is_negative_zero(const Rewriter& rewriter, Value v);
/// v is an integer (or bool) literal with all bits set (true).
bool is_all_ones(const Rewriter& rewriter, Value v);

}  // namespace calque::transform
