#pragma once
// The devices that hold arrays and run functions. An operation runs on its arguments' device; mixing devices throws
// DeviceError.
#include <string_view>
#include <vector>

#include "calque/ir/any_array.h"
#include "calque/ir/location.h"

namespace calque {

struct CollectiveCall;
class ProcessGroup;

/// The host CPU.
inline Device cpu() { return {Device::Kind::cpu, 0}; }
/// The GPU number `index` of the system. Does not check that it exists; using one that does not throws DeviceError.
inline Device gpu(int index = 0) { return {Device::Kind::gpu, index}; }
/// The GPU simulator, which runs on the CPU.
inline Device gpu_sim() { return {Device::Kind::gpu_sim, 0}; }

/// The available devices, those with a sufficient driver and compute capability, the CPU first. Creates no GPU context.
std::vector<Device> devices();
/// The device of functions and operations whose arguments are all on the host: the CPU, or the one named by
/// CALQUE_DEVICE. Throws DeviceError when CALQUE_DEVICE is not a device's name.
Device default_device();
/// The device of this name: cpu, gpu_sim, gpu, gpu:N. Throws DeviceError for any other text.
Device parse_device(std::string_view text);
/// True if `gpu(0)` is one of `devices()`. Its first use may still throw DeviceError, for example when another process
/// holds it.
bool gpu_available();
/// Waits until all started computations are done, on every device. Throws DeviceError when a device was lost.
void synchronize();

namespace detail {
/// Throws DeviceError whose message starts with `operation` unless `device` can be used.
void require_device(std::string_view operation, Device device, Location location);
/// The array on `device`; the same array if it is there already. Throws DeviceError whose message starts with
/// `operation`.
AnyArray copy_to_device(std::string_view operation, const AnyArray& array, Device device, Location location);
/// Makes the call on an array of a device other than the host, null for calls without an operand. The result is on the
/// device; empty where there is none. Throws DeviceError whose message starts with `operation`.
AnyArray communicate_on_device(std::string_view operation, const ProcessGroup& group, const CollectiveCall& call,
                               const AnyArray* operand, Device device);
}  // namespace detail

}  // namespace calque
