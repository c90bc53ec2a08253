#pragma once
// Which equations have results that the reference evaluator computes with the bits of compiled code.
#include <optional>

#include "calque/ir/graph.h"

#include "math/forms.h"

namespace calque::transform {

/// Whether an equation of the primitive, evaluated by itself, has the bits that generated code computes: no schedule
/// chooses the order of its operations, and a function of lib/math has the form that `forms` specifies. The dtype is
/// that of its first operand (of its result where there is none).
bool has_defined_bits(PrimitiveId id, DType dtype, const std::optional<math::MathForms>& forms);

/// Whether evaluating the graph equation by equation gives the bits of its compiled code, outside of fast_math: every
/// equation has defined bits, and code generation does not round several of them as one, as it does sums of products
/// and chains of 16-bit floats. False for graphs with effects, sub-graphs and complex numbers.
bool has_defined_bits(const Graph& graph, const math::MathForms& forms);

}  // namespace calque::transform
