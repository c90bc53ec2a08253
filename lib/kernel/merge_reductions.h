#pragma once
#include "kernel/kernel.h"

namespace calque::kernel {

/// Reductions of one region that run equally long and read or compute the same on the way become one loop with several
/// results, which does that once. Their orders of summation stay as they are.
void merge_reductions(Kernel& kernel);

}  // namespace calque::kernel
