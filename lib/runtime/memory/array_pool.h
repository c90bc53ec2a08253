#pragma once
// Memory of arrays: freed blocks are kept, since fresh pages cost more than most kernels.
#include <cstddef>

namespace calque::runtime {

/// Arrays from now on come from the pool: small blocks from lists of the thread, large ones from one bounded store with
/// huge pages. Nothing under CALQUE_GUARD=1 or in builds with AddressSanitizer.
void install_pool();
/// Gives what the pool keeps and nobody uses back to the system: the calling thread's lists and the large blocks.
void trim_pool();
/// Bytes of large blocks that the pool keeps.
size_t kept_bytes();
/// Bytes of large blocks that arrays and workspaces hold, and the most that they held at once since the program started
/// or `reset` was last true.
size_t held_bytes();
size_t most_held_bytes(bool reset = false);

}  // namespace calque::runtime
