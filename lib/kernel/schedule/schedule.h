#pragma once
// Chooses which loops of a kernel run in vectors and which are split over threads, and counts what a call of it moves
// and computes.
#include "kernel/ir/kernel.h"

namespace calque::kernel {

/// Marks loops and fills in bytes_read, bytes_written and flops.
void schedule(Kernel& kernel);

}  // namespace calque::kernel
