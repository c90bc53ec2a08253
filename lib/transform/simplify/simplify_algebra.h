#pragma once
// Laws that hold to the bit: for every operand, NaN's payload and sign aside, both sides give the same value. Nothing
// here reassociates, distributes or assumes that a value is finite. Floats are IEEE floats; `int` is an integer of
// either sign; c is a literal (of any shape, all elements equal).
#include <optional>

#include "transform/simplify/rewriter.h"

namespace calque::transform {

/// The same graph with the laws below applied wherever their left side stands.
///
/// - An array without elements is a literal.
/// - simplify_arithmetic.cpp: identities of add, sub, mul, div, neg, abs, max, min.
/// - simplify_logic.cpp: identities of and, or, xor, not, shifts, comparisons, select.
/// - simplify_convert.cpp: conversions that keep every value compose.
/// - simplify_views.cpp: views that change nothing go, views of views compose, views of splats are splats.
Graph simplify_algebra(const Graph& graph);

/// What one equation is equal to by a law, if there is one.
std::optional<Value> simplify(Sweep& sweep, const Draft& draft);

std::optional<Value> simplify_arithmetic(Sweep& sweep, const Draft& draft);
std::optional<Value> simplify_logic(Sweep& sweep, const Draft& draft);
std::optional<Value> simplify_convert(Sweep& sweep, const Draft& draft);
std::optional<Value> simplify_views(Sweep& sweep, const Draft& draft);

/// v is a literal whose element is the number k, which every dtype has; zero means +0.
bool is_number(const Sweep& sweep, Value v, int k);
/// v is a float literal -0.
bool is_negative_zero(const Sweep& sweep, Value v);
/// v is an integer (or bool) literal with all bits set (true).
bool is_all_ones(const Sweep& sweep, Value v);

}  // namespace calque::transform
