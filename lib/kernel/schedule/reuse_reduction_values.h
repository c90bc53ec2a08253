#pragma once
// Values that a reduction computes and a later loop would recompute are stored to the later loop's output.
#include "kernel/ir/kernel.h"

namespace calque::kernel {

/// Where a reduction computes expensive values that a subsequent parallel loop recomputes for a store (the exponentials
/// of a softmax), the reduction stores them to the destination of that store, and the loop loads them.
void reuse_reduction_values(Kernel& kernel);

}  // namespace calque::kernel
