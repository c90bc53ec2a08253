#pragma once
// Donated arguments: arrays whose memory a call takes over for its results.
#include "calque/detail/call.h"

#include "runtime/call/dispatch.h"

namespace calque::runtime {

/// Only arguments at positions below this can be reused by results.
inline constexpr int kMaxDonatedArguments = 32;

/// The memory that results of the executable take over from donated arguments. An argument whose memory other arrays
/// refer to, or that is passed twice, is copied.
DonatedBuffers donated_buffers(const detail::FunctionState& function, const detail::Arguments& arguments,
                               const Executable& executable, Device device);

/// Marks the arrays that were given as donated arguments: using those again is an error that names the donation. Other
/// arrays with the same memory, copies and reshaped ones, keep their elements.
void donate(const detail::FunctionState& function, const detail::Arguments& arguments);

/// The text with which errors name the donation of a leaf: argument, function and source location. Never freed.
const char* donation_of(const detail::FunctionState& function, const detail::Arguments& arguments, size_t leaf);

}  // namespace calque::runtime
