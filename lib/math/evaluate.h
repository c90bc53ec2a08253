#pragma once
// The functions of lib/math on arrays, with the same bits as generated code: for constant folding and as the reference
// of strict mode.
#include "math/forms.h"
#include "primitives/core/rule.h"

namespace calque::math {

/// True when `evaluate` supports the primitive: functions of floats whose form the code generator does not choose, and
/// the modulus of complex numbers.
bool can_evaluate(PrimitiveId id, DType dtype, const MathForms& forms);

/// Evaluates an equation of the primitive; every element equals that of generated code of these forms. 16-bit floats
/// are computed in f32 and rounded once.
void evaluate(PrimitiveId id, const MathForms& forms, primitives::Evaluation& e);

/// One element; y is x for functions of one operand.
float evaluate_f32(PrimitiveId id, const MathForms& forms, float x, float y);
double evaluate_f64(PrimitiveId id, const MathForms& forms, double x, double y);

}  // namespace calque::math
