#pragma once
// Loops of the entry function whose iterations run on several threads. What an iteration needs for itself is private to
// its thread, so that it stays in that processor's cache from one kernel of the iteration to the next; kernels that are
// split over threads one by one pass everything from cache to cache, and wait for each other at each kernel's end.
#include "kernel/ir/program.h"

namespace calque::kernel {

/// Marks the outermost loops that may and should run on threads, and the buffers private to their iterations.
/// Iterations are independent when each writes nothing but private buffers, slices of its own, and sums, which are then
/// summed in pieces. Depends on nothing but the program, whose steps are final and whose workspace has no offsets yet.
void run_loops_on_threads(Program& program);

}  // namespace calque::kernel
