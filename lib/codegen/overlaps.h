#pragma once
// Which buffers of a kernel may be the same memory.
#include <vector>

#include "kernel/program.h"

namespace calque::codegen {

/// For each buffer of the kernel: whether some call of it binds the buffer to memory that another buffer of the call
/// may touch, and one of the two is written.
std::vector<bool> overlaps(const kernel::Program& program, int32_t kernel);

}  // namespace calque::codegen
