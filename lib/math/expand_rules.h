#pragma once
// The functions of lib/math on graphs by primitive. One source file a precision: each instantiates every function once.
#include "math/graph_backend.h"

namespace calque::math {

/// The result of a math primitive on operands of that type in the current GraphScope (y is x where there is one);
/// invalid when there is none.
Value expand_f32(PrimitiveId id, bool fast_math, Value x, Value y);
Value expand_f64(PrimitiveId id, bool fast_math, Value x, Value y);

}  // namespace calque::math
