#pragma once
// Schedules a program for a GPU: each kernel becomes one or several launches, whose loops say which threads run their
// iterations. The result is a program like the one before: what passes between launches lies in the workspace, and run
// without regard to the marks it computes the same values.
#include "kernel/program.h"

namespace calque::kernel {

/// What the schedule must know of a GPU.
struct GpuLimits {
  int32_t processors = 132;        ///< streaming multiprocessors
  int32_t threads_of_block = 256;  ///< that blocks have where nothing asks for another number
  bool fast_math = false;          ///< tf32 may stand for f32 in products
};

Program schedule_for_gpu(const Program& program, const GpuLimits& limits);

}  // namespace calque::kernel
