#pragma once
// A scalar in an expression, in which a primitive composes its generated code from operations that code generation
// knows, as Term does for derivatives.
#include <initializer_list>

#include "primitives/core/code_generation.h"
#include "primitives/core/lowering.h"

namespace calque::primitives {

struct ScalarTerm {
  Lowering* lowering;
  Scalar value;

  DType dtype() const { return lowering->dtype(value); }
};

/// The operation applied to operands of one dtype (after the condition, for select).
ScalarTerm apply(ScalarOp op, std::initializer_list<ScalarTerm> operands);
/// A constant of the dtype of x.
ScalarTerm constant(ScalarTerm x, double number);
/// The bits of a floating-point number as a signed integer.
ScalarTerm bits(ScalarTerm x);

}  // namespace calque::primitives
