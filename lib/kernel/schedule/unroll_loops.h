#pragma once
#include "kernel/ir/kernel.h"

namespace calque::kernel {

/// Sums of a few terms, as over the coordinates of a point, are written out; so are loops of a few iterations around
/// long reductions, which can then become one loop (fuse_loops). Kernels that read what they write, and those
/// with control flow, stay as they are.
void unroll_loops(Kernel& kernel);

}  // namespace calque::kernel
