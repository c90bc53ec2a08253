#pragma once
// Where arrays live and functions run. An operation runs on its arguments' device; mixing devices is a DeviceError.
#include <string_view>
#include <vector>

#include "calque/ir/any_array.h"
#include "calque/ir/location.h"

namespace calque {

/// The processor that runs the program.
inline Device cpu() { return {Device::Kind::cpu, 0}; }
/// The i-th GPU of the system. Naming one that is not there is no error; using it is a DeviceError.
inline Device gpu(int index = 0) { return {Device::Kind::gpu, index}; }
/// The simulator of a GPU on the CPU.
inline Device gpu_sim() { return {Device::Kind::gpu_sim, 0}; }

/// The devices whose driver and compute capability suffice, the CPU first. Asking makes no context on a GPU.
std::vector<Device> devices();
/// Where functions and operations run whose arguments are all on the host: the CPU, or what CALQUE_DEVICE names. Throws
/// DeviceError when CALQUE_DEVICE names no device.
Device default_device();
/// The device that a text names: cpu, gpu_sim, gpu, gpu:N. Throws DeviceError.
Device parse_device(std::string_view text);
/// True when `gpu(0)` is one of `devices()`. Its first work may still throw DeviceError: another process may have it.
bool gpu_available();
/// Waits until all computations that were started are done, on every device. Throws DeviceError when one was lost.
void synchronize();

namespace detail {
/// Throws DeviceError in words, beginning with `operation`, unless `device` can be used.
void require_device(std::string_view operation, Device device, Location location);
/// The array on `device`, itself when it is there. Throws DeviceError, beginning with `operation`.
AnyArray copy_to_device(std::string_view operation, const AnyArray& array, Device device, Location location);
}  // namespace detail

}  // namespace calque
