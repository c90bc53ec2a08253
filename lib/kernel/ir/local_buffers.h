#pragma once
// Buffers that belong to an iteration of a loop.
#include <cstdint>
#include <span>
#include <vector>

#include "kernel/ir/kernel.h"

namespace calque::kernel {

/// Bytes on the stack that the local buffers of one iteration of a loop take, those of loops inside it included.
int64_t local_bytes(const Kernel& kernel, const Instruction& loop);

/// Buffer i has the number `numbers[i]` from now on, in the instructions of a region.
void renumber_buffers(Region& region, std::span<const int32_t> numbers);

/// Renumbers the buffers so that local ones follow the parameters. Returns the new number of each.
std::vector<int32_t> move_locals_last(Kernel& kernel);

}  // namespace calque::kernel
