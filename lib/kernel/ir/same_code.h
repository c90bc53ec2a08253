#pragma once
// Kernels that differ only in the buffers they are bound to share one function.
#include "kernel/ir/kernel.h"

namespace calque::kernel {

/// A hash of the instructions and buffers; equal for kernels of the same code.
uint64_t hash_of_code(const Kernel& kernel);

/// Whether two kernels have the same instructions and buffers. Names and the counts for `explain` are ignored.
bool same_code(const Kernel& a, const Kernel& b);

}  // namespace calque::kernel
