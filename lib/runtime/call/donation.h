#pragma once
// Donated arguments: arrays whose memory a call takes over for its results.
#include "calque/detail/call.h"

#include "runtime/call/dispatch.h"

namespace calque::runtime {

/// Only arguments at positions below this can be reused by results.
inline constexpr int kMaxDonatedArguments = 32;

/// The memory that results of the executable take over from donated arguments. An argument that is shared with other
/// arrays or passed twice is copied.
DonatedBuffers donated_buffers(const detail::FunctionState& function, const detail::Arguments& arguments,
                               const Executable& executable, Device device);

/// Marks the memory of the donated arguments as donated: using those arrays again is an error that names the donation.
/// Outputs that are such an argument take over its memory.
void donate(const detail::FunctionState& function, const detail::Arguments& arguments, detail::OutputArrays& outputs);

/// The text with which errors name the donation of a leaf: argument, function and source location. Never freed.
const char* donation_of(const detail::FunctionState& function, const detail::Arguments& arguments, size_t leaf);

}  // namespace calque::runtime
