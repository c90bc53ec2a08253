#pragma once
// The family of reductions and cumulative operations.
#include "primitives/reduction/argmax.h"
#include "primitives/reduction/cumulative.h"
#include "primitives/reduction/reduce.h"

namespace calque::primitives {

using ReductionList = TypeList<ReduceSum, ReduceProd, ReduceMax, ReduceMin, ReduceAnd, ReduceOr, Argmax, Argmin, Cumsum,
                               Cumprod, Cummax, Cummin>;

}  // namespace calque::primitives
