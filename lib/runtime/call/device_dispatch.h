#pragma once
// One call of an executable compiled for a device. Host arguments are copied to the device first; results stay there.
#include "calque/detail/call.h"

#include "runtime/call/dispatch.h"

namespace calque::runtime {

/// See execute of dispatch.h.
void execute_on_device(const Executable& executable, std::span<const detail::LeafRef> leaves,
                       std::span<const AnyArray> lifted, std::span<const AnyArray> constants,
                       std::span<const OutputSource> sources, Device device, detail::OutputArrays& outputs,
                       const DonatedBuffers& donated);
std::vector<AnyArray> execute_on_device(const Executable& executable, std::span<const AnyArray* const> inputs,
                                        Device device);

/// See donated_buffers of donation.h.
DonatedBuffers donated_buffers_on_device(const detail::FunctionState& function, const detail::Arguments& arguments,
                                         const Executable& executable, Device device);

}  // namespace calque::runtime
