#pragma once
#include <vector>

#include "kernel/ir/program.h"

namespace calque::kernel {

/// Loop fusion: fuses loops of one region that have the same extent and do not use each other's results, when one of
/// them reduces. Shared loads and common subexpressions are then evaluated once, and a reduction's loop also stores
/// elements. Then the same inside the fused loop. Equal instructions of a region are merged. The kernel's buffers are
/// bound to `views`.
void fuse_loops(Kernel& kernel, const std::vector<View>& views);

}  // namespace calque::kernel
