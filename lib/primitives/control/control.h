#pragma once
// The family of control flow and call-like equations. Sub-graphs are closed: values of the enclosing graph are passed
// as operands.
#include "primitives/control/branches.h"
#include "primitives/control/call.h"
#include "primitives/control/custom_rules.h"
#include "primitives/control/implicit.h"
#include "primitives/control/loops.h"
#include "primitives/control/optimization_barrier.h"

namespace calque::primitives {

using ControlList = TypeList<Cond, Switch, While, Scan, Call, Checkpoint, CustomJvp, CustomVjp, CustomLinear,
                             OptimizationBarrier, Captured, CustomRoot, LinearSolve>;

}  // namespace calque::primitives
