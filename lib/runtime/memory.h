#pragma once
// Memory of arrays: freed blocks are kept, since fresh pages cost more than most kernels.
#include <cstddef>

#include "calque/detail/call.h"

#include "runtime/dispatch.h"

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

/// Arguments at positions below this may give their memory to results.
inline constexpr int kMaxInPlace = 32;

/// The memory that results of the executable take over from donated arguments. What is not the caller's alone to give,
/// or is passed twice, is copied.
Places places_of(const detail::FunctionState& function, const detail::Arguments& arguments,
                 const Executable& executable, Device device);

/// Marks the memory of the donated arguments as given away: using those arrays again is an error that says so. Outputs
/// that are such an argument take its memory over.
void donate(const detail::FunctionState& function, const detail::Arguments& arguments, detail::OutputArrays& outputs);

/// Where an error says that a leaf of a donated argument went. Lives as long as the program.
const char* donation_of(const detail::FunctionState& function, const detail::Arguments& arguments, size_t leaf);

}  // namespace calque::runtime
