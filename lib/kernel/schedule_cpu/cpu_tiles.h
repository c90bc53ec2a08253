#pragma once
// Tiling of contractions for a CPU.
#include "kernel/ir/kernel.h"
#include "kernel/schedule_cpu/target_limits.h"

namespace calque::kernel {

/// Gives every contraction of the kernel its tiles.
void choose_cpu_tiles(Kernel& kernel, const TargetLimits& target);

}  // namespace calque::kernel
