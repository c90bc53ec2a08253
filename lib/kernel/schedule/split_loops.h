#pragma once
#include "kernel/ir/kernel.h"

namespace calque::kernel {

/// Index-set splitting: a parallel loop whose body compares its index with constants (at the edges of pads,
/// concatenations and shifted slices) becomes one loop for each range in which the comparisons have fixed results,
/// without the comparisons. Loops whose ranges are short, or whose body is large, are not changed.
void split_loops(Kernel& kernel);

}  // namespace calque::kernel
