#pragma once
// Which buffers of a kernel may be the same memory.
#include <vector>

#include "kernel/program.h"

namespace calque::codegen {

/// For each buffer of the kernel: whether some call of it binds the buffer to memory that another buffer of the call
/// may touch, and one of the two is written.
std::vector<bool> overlaps(const kernel::Program& program, int32_t kernel);

/// For each buffer of the kernel its place in the workspace, or -1 where it is elsewhere or not always at the same one.
/// Empty for a kernel of few buffers, and for one that several steps call.
std::vector<int64_t> places_in_workspace(const kernel::Program& program, int32_t kernel);

}  // namespace calque::codegen
