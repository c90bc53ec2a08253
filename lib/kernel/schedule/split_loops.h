#pragma once
#include "kernel/ir/kernel.h"

namespace calque::kernel {

/// Index-set splitting: a parallel loop whose body asks where its index lies (at the edges of pads, concatenations and
/// shifted slices) becomes one loop for each range in which the answers are the same, without the questions. Loops
/// whose ranges are short, or whose body is large, stay as they are.
void split_loops(Kernel& kernel);

}  // namespace calque::kernel
