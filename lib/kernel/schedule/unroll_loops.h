#pragma once
#include "kernel/ir/kernel.h"

namespace calque::kernel {

/// Fully unrolls reductions of a few elements, as over the coordinates of a point, loops over the elements of such
/// rows, so that the loop over rows runs in vectors, and loops of a few iterations around long reductions, which can
/// then be fused (fuse_loops). Kernels that read a buffer they write, and those with control flow, are not changed.
void unroll_loops(Kernel& kernel);

}  // namespace calque::kernel
