#pragma once
// Chooses who runs which loops of one launch.
#include "kernel/ir/kernel.h"
#include "kernel/schedule_gpu/schedule_gpu.h"

namespace calque::kernel {

/// Of a kernel whose only instruction with effects is one nest of parallel loops or one contraction: over the grid.
void map_to_grid(Kernel& kernel, const GpuLimits& limits);
/// Of any kernel: by one group of threads.
void map_to_group(Kernel& kernel, const GpuLimits& limits);

/// The nest sums along columns: neighbours in memory belong to neighbouring iterations of the innermost loop.
bool sums_columns(const Kernel& kernel, const Instruction& nest);

}  // namespace calque::kernel
