#pragma once
// The functions of lib/math by primitive. One source file a precision: each instantiates every function once.
#include "math/graph_backend.h"

namespace calque::math {

/// The result of a math primitive on operands of that type in the current GraphScope; invalid when there is none.
Value expand_f32(PrimitiveId id, const ValueList& operands);
Value expand_f64(PrimitiveId id, const ValueList& operands);
/// The same in the forms of fast math; invalid also where there is no other form than the usual one.
Value expand_f32_fast(PrimitiveId id, const ValueList& operands);
Value expand_f64_fast(PrimitiveId id, const ValueList& operands);
/// x to the power n for integers: wraps; a negative exponent gives 1/x truncated, all ones for x = 0.
Value expand_integer_power(DType dtype, Value x, Value n);

}  // namespace calque::math
