#pragma once
// How many iterations of a short flat loop a thread runs interleaved, so that their loads overlap.
#include <cstdint>

#include "kernel/ir/kernel.h"

namespace calque::kernel {

/// 4, 2 or 1, by the length of the body; 1 if it contains loops.
int64_t unroll_factor(const Kernel& kernel, const Region& body);

}  // namespace calque::kernel
