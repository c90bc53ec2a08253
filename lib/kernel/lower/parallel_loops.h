#pragma once
// Loops of the entry function whose iterations run on several threads. The temporaries of an iteration are private to
// its thread, so they stay in that processor's cache from one kernel of the iteration to the next; kernels that are
// split over threads one by one move all data from cache to cache, with a barrier after each kernel.
#include "kernel/ir/program.h"

namespace calque::kernel {

/// Marks the outermost loops that may and should run on threads, and the buffers private to their iterations.
/// Iterations are independent when each writes only private buffers, disjoint slices, and sums, which are then summed
/// in chunks. Depends on the program alone, whose steps are final and whose workspace has no offsets yet.
void run_loops_on_threads(Program& program);

/// Microseconds that the steps take on one thread, within a factor of a few.
double estimated_time(const Program& program, const std::vector<Step>& steps);

}  // namespace calque::kernel
