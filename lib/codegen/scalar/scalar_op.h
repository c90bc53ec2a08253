#pragma once
// The elementwise primitives that the code generator emits inline. All others are functions of lib/math.
#include <cstdint>

#include "calque/ir/primitive.h"

namespace calque::codegen {

enum class ScalarOp : uint8_t {
  unsupported,
  neg,
  abs,
  sign,
  floor,
  ceil,
  trunc,
  round,
  round_half_away,
  sqrt,
  rsqrt,
  not_,
  popcount,
  clz,
  stop_gradient,
  add,
  sub,
  mul,
  div,
  rem,
  max,
  min,
  copysign,
  and_,
  or_,
  xor_,
  shl,
  shr_arithmetic,
  shr_logical,
  eq,
  ne,
  lt,
  le,
  gt,
  ge,
  fma,
  clamp,
  select,
  convert,
  bitcast,
};

/// `unsupported` for all other primitives.
ScalarOp scalar_op(PrimitiveId id);

}  // namespace calque::codegen
