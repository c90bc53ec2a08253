#pragma once
// Offsets of intermediate values in one block of memory. Live ranges follow from the finished steps alone: from the
// first step that uses a value to the last, extended to the end of every loop that the value is live into. Values whose
// live ranges are disjoint may share bytes.
#include "kernel/ir/program.h"

namespace calque::kernel {

/// Of offsets into the workspace, in bytes.
inline constexpr int64_t kWorkspaceAlignment = 64;

/// Adds a dense workspace buffer to the program, without an offset yet.
int32_t add_workspace(Program& program, const Type& type);

/// Assigns offsets to the buffers that are private to the iterations of a loop (`private_to`). Returns their total size
/// in bytes.
int64_t assign_private_offsets(Program& program, const Step& loop);

/// Assigns offsets to all other workspace buffers and sets the program's workspace_bytes. Steps and views are final.
void assign_workspace_offsets(Program& program);

/// Checks that the buffers that steps use are inside the workspace, or the private memory of their loop, and that no
/// step uses the bytes of a call between its start and its completion. Throws CompileError.
void verify_offsets(const Program& program);

}  // namespace calque::kernel
