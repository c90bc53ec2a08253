#pragma once
// Chooses which loops of a kernel are vectorised and which are split over threads, and counts the bytes and operations
// of a call.
#include "kernel/ir/kernel.h"

namespace calque::kernel {

/// Sets `vectorize` of loops, and bytes_read, bytes_written and flops of the kernel.
void vectorize_loops(Kernel& kernel);
/// Sets all schedule attributes of the loops, and bytes_read, bytes_written and flops.
void schedule(Kernel& kernel);

}  // namespace calque::kernel
