#pragma once
// Maps the loops of one launch to threads and thread groups.
#include "kernel/ir/kernel.h"
#include "kernel/schedule_gpu/schedule_gpu.h"

namespace calque::kernel {

/// Maps a kernel whose only instruction with effects is one nest of parallel loops or one contraction to the grid.
void map_to_grid(Kernel& kernel, const GpuLimits& limits);
/// Maps any kernel to one thread group.
void map_to_group(Kernel& kernel, const GpuLimits& limits);

/// The nest reduces along columns: neighbours in memory belong to neighbouring iterations of the innermost parallel
/// loop.
bool sums_columns(const Kernel& kernel, const Instruction& nest);

}  // namespace calque::kernel
