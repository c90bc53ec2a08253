#pragma once
// Offsets of intermediate values in one block of memory. When a value lives follows from the finished steps
// alone: from the first that touches it to the last, and to the end of every loop that it enters from outside. Values
// that never live at the same time may share bytes.
#include "kernel/ir/program.h"

namespace calque::kernel {

/// A new workspace buffer of the program, dense, without a place yet.
int32_t add_workspace(Program& program, const Type& type);

/// Gives the buffers that are private to the iterations of a loop (`private_to`) their offsets. Returns the bytes that
/// they take together.
int64_t place_private(Program& program, const Step& loop);

/// Gives every other workspace buffer its offset and the program its workspace_bytes. Steps and views are final.
void place_workspace(Program& program);

}  // namespace calque::kernel
