#pragma once
// The cost of instructions.
#include "kernel/ir/kernel.h"
#include "math/cost.h"

namespace calque::kernel {

/// The cost of a scalar instruction, which may be a function of lib/math.
inline math::FunctionCost cost_of(const Kernel& kernel, const Instruction& i) {
  if (i.op != Op::scalar || i.operands.empty()) return {};
  return math::cost_of(i.primitive, kernel.values[static_cast<size_t>(i.operands[0])]);
}

}  // namespace calque::kernel
