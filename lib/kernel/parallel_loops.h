#pragma once
// Loops of the entry function whose iterations run on several threads. What an iteration needs for itself is private to
// its thread, so that it stays in that processor's cache from one kernel of the iteration to the next; kernels that are
// split over threads one by one pass everything from cache to cache, and wait for each other at each kernel's end.
#include "kernel/program.h"

namespace calque::kernel {

/// Microseconds that the steps take on one thread, within a factor of a few.
double estimated_time(const Program& program, const std::vector<Step>& steps);

/// Whether a step, or one inside it, calls into C++: in an order that shows.
bool has_host_call(const std::vector<Step>& steps);

/// How many iterations make a piece of a loop for threads, when one takes `microseconds` and at most `pieces` pieces
/// are wanted. `count` where the loop is not worth more than one thread.
int64_t iterations_of_piece(int64_t count, double microseconds, int64_t pieces);

/// No more pieces than this are made of a loop: enough to keep threads busy.
inline constexpr int64_t kMostPieces = 64;

/// Marks the outermost loops that may and should run on threads, and the buffers private to their iterations.
/// Iterations are independent when each writes nothing but private buffers and slices of its own. Depends on nothing
/// but the program, whose steps are final and whose workspace has no offsets yet.
void run_loops_on_threads(Program& program);

}  // namespace calque::kernel
