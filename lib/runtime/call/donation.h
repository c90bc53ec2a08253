#pragma once
// Donated arguments: arrays whose memory a call takes over for its results.
#include "calque/detail/call.h"

#include "runtime/call/dispatch.h"

namespace calque::runtime {

/// Arguments at positions below this may give their memory to results.
inline constexpr int kMaxInPlace = 32;

/// The memory that results of the executable take over from donated arguments. What is not the caller's alone to give,
/// or is passed twice, is copied.
DonatedBuffers donated_buffers(const detail::FunctionState& function, const detail::Arguments& arguments,
                               const Executable& executable, Device device);

/// Marks the memory of the donated arguments as given away: using those arrays again is an error that says so. Outputs
/// that are such an argument take its memory over.
void donate(const detail::FunctionState& function, const detail::Arguments& arguments, detail::OutputArrays& outputs);

/// Where an error says that a leaf of a donated argument went. Lives as long as the program.
const char* donation_of(const detail::FunctionState& function, const detail::Arguments& arguments, size_t leaf);

}  // namespace calque::runtime
