#pragma once
// The functions of lib/math on arrays of numbers, with the bits of generated code: constant folding, and the reference
// of strict mode.
#include "math/forms.h"
#include "primitives/core/rule.h"

namespace calque::math {

/// Whether `evaluate` is defined: for functions of floats whose form is not left to the code generator.
bool can_evaluate(PrimitiveId id, DType dtype, const MathForms& forms);

/// Evaluates an equation of that primitive, each element as generated code of these forms computes it. 16-bit floats
/// are computed in f32 and rounded once.
void evaluate(PrimitiveId id, const MathForms& forms, primitives::Evaluation& e);

/// One element; y is x for functions of one operand.
float evaluate_f32(PrimitiveId id, const MathForms& forms, float x, float y);
double evaluate_f64(PrimitiveId id, const MathForms& forms, double x, double y);

}  // namespace calque::math
