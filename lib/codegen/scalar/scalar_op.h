#pragma once
// The operation that code generation emits inline for a primitive, a trait of its struct.
#include "primitives/registry.h"

namespace calque::codegen {

using ScalarOp = primitives::ScalarOp;

/// `unsupported` for functions of lib/math and all that is not elementwise.
inline ScalarOp scalar_op(PrimitiveId id) { return primitives::rules(id).scalar_op; }

}  // namespace calque::codegen
