#pragma once
// Tiling of matrix products for a GPU.
#include <optional>

#include "kernel/ir/kernel.h"

namespace calque::kernel {

/// Nothing where plain reductions are better: small results or a small K. `fast_math` allows tf32 for f32. The tile
/// depends only on the product and the loops around it in the kernel's body.
std::optional<GpuTiles> choose_gpu_tiles(const Kernel& kernel, const Instruction& contraction, bool fast_math);

}  // namespace calque::kernel
