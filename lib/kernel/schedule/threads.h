#pragma once
// Chooses which loops of a kernel are split over threads, and into what pieces.
#include "kernel/ir/kernel.h"

namespace calque::kernel {

struct ThreadOptions {
  /// Microseconds of estimated work from which a loop is split.
  double split_above = 50;
  /// Microseconds of estimated work in a piece, at least.
  double piece = 20;
};

/// In force for every kernel that is scheduled. Tests change it before they compile.
ThreadOptions& thread_options();

/// Of a while loop, where its number of iterations is estimated.
inline constexpr double kUnknownTrips = 10;

/// Microseconds that the kernel takes on one thread, within a factor of a few. The kernel is scheduled.
double estimated_time(const Kernel& kernel);

/// Marks loops. The choice depends on the kernel alone, never on how many threads there are.
void split_over_threads(Kernel& kernel);

}  // namespace calque::kernel
