#pragma once
// Chooses which loops of a kernel are split over threads, and their chunk sizes.
#include "kernel/ir/kernel.h"

namespace calque::kernel {

struct ThreadOptions {
  /// Microseconds of estimated work from which a loop is split.
  double split_above = 50;
  /// The least microseconds of estimated work in a chunk.
  double chunk = 20;
  friend bool operator==(const ThreadOptions&, const ThreadOptions&) = default;
};

/// Used for every kernel that is scheduled, and part of every cache key. Tests change it before they compile.
ThreadOptions& thread_options();

/// The estimated number of iterations of a while loop.
inline constexpr double kUnknownTrips = 10;

/// Estimated microseconds of the kernel on one thread, within a factor of a few. The kernel must be scheduled.
double estimated_time(const Kernel& kernel);

/// Sets `threads` and `grain` of loops. The choice depends on the kernel alone, never on the number of threads.
void split_over_threads(Kernel& kernel);

}  // namespace calque::kernel
