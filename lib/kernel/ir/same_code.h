#pragma once
// Kernels that differ in what they are bound to and in nothing else: they need one function between them.
#include "kernel/ir/kernel.h"

namespace calque::kernel {

/// Of the instructions and buffers; equal for kernels of the same code.
uint64_t hash_of_code(const Kernel& kernel);

/// Whether two kernels have the same instructions and buffers. Their names do not matter, nor what they count for
/// `explain`.
bool same_code(const Kernel& a, const Kernel& b);

}  // namespace calque::kernel
