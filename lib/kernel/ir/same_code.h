#pragma once
// Kernels that differ only in the buffers they are bound to share one function, and so may those that also differ in
// the values of floating-point constants.
#include <vector>

#include "kernel/ir/kernel.h"

namespace calque::kernel {

/// A hash of the instructions and buffers; equal for kernels of the same code.
uint64_t hash_of_code(const Kernel& kernel);

/// Whether two kernels have the same instructions and buffers. Names and the counts for `explain` are ignored.
bool same_code(const Kernel& a, const Kernel& b);

/// The f32 and f64 constants of the kernel, in the order of its text.
std::vector<const Instruction*> floating_point_constants(const Kernel& kernel);

/// As the two above, whatever the values of the floating-point constants are.
uint64_t hash_of_form(const Kernel& kernel);
bool same_form(const Kernel& a, const Kernel& b);

}  // namespace calque::kernel
