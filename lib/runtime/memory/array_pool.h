#pragma once
// A pool for the memory of arrays: freed blocks are cached, since faulting in fresh pages costs more than most kernels.
#include <cstddef>

namespace calque::runtime {

/// Arrays are allocated from the pool from now on: small blocks from free lists of the thread, large blocks from one
/// bounded store with huge pages. Disabled under CALQUE_GUARD=1 and in builds with AddressSanitizer.
void install_pool();
/// Returns cached memory to the system: the calling thread's free lists and the large blocks.
void trim_pool();
/// Bytes of free large blocks that the pool caches.
size_t cached_bytes();
/// Bytes of large blocks in use by arrays and workspaces, and their peak since the program started or `reset` was last
/// true.
size_t bytes_in_use();
size_t peak_bytes_in_use(bool reset = false);

}  // namespace calque::runtime
