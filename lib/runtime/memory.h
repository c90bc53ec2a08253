#pragma once
// Memory of arrays: freed blocks are kept, since fresh pages cost more than most kernels.
#include <cstddef>

#include "calque/detail/call.h"

namespace calque::runtime {

/// Arrays from now on come from the pool: small blocks from lists of the thread, large ones from one bounded store with
/// huge pages. Nothing under CALQUE_GUARD=1 or in builds with AddressSanitizer.
void install_pool();
/// Gives what the pool keeps and nobody uses back to the system: the calling thread's lists and the large blocks.
void trim_pool();
/// Bytes of large blocks that the pool keeps.
size_t kept_bytes();

/// Marks the memory of the donated arguments as given away: using those arrays again is an error that says so. Outputs
/// that are such an argument take its memory over.
void donate(const detail::FunctionState& function, const detail::Arguments& arguments, detail::OutputArrays& outputs);

}  // namespace calque::runtime
