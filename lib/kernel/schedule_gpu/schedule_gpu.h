#pragma once
// Schedules a program for a GPU: each kernel becomes one or several launches, whose loops say which threads run their
// iterations. The result is a program like the one before: what passes between launches lies in the workspace, and run
// without regard to the marks it computes the same values (where it has no stores that combine).
#include "kernel/ir/program.h"

namespace calque::kernel {

/// What the schedule must know of a GPU.
struct GpuLimits {
  int32_t processors = 132;        ///< streaming multiprocessors
  int32_t threads_of_block = 256;  ///< that blocks have where nothing asks for another number
  bool fast_math = false;          ///< tf32 may stand for f32 in products
  bool deterministic = false;      ///< floats are never combined in an order that varies from run to run
  /// Kernels of less work (instructions that all their loops run) are one launch of one group of threads.
  double small_work = 1 << 14;
  /// Reductions and cumulative loops from this extent on are cut into pieces of at least so many iterations.
  int64_t long_loop = 1 << 14, least_piece = 2048;
  /// Columns to be summed whose threads are too few are cut into pieces of at least so many rows.
  int64_t least_rows = 32;
};

Program schedule_for_gpu(const Program& program, const GpuLimits& limits);

}  // namespace calque::kernel
