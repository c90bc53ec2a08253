#pragma once
// How many iterations of a short flat loop a thread has under way at once: its loads then overlap.
#include <cstdint>

#include "kernel/ir/kernel.h"

namespace calque::kernel {

/// 4, 2 or 1, by the length of the body; 1 where it has loops of its own.
int64_t repeats(const Kernel& kernel, const Region& body);

}  // namespace calque::kernel
