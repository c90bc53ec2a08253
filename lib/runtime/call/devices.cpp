// The devices of this process: the CPU, whose calls are synchronous, the GPUs that the driver reports, and the
// simulator. Each is created on first use and lives as long as the program.
#include <charconv>
#include <exception>
#include <string>

#include "calque/device.h"
#include "calque/ir/errors.h"

#include "runtime/cuda/cuda_device.h"
#include "runtime/device/device_api.h"
#include "runtime/device/host_device.h"
#include "runtime/process/environment.h"
#include "runtime/simulator/simulated_device.h"

namespace calque {
namespace {

std::optional<Device> device_named(std::string_view text) {
  if (text == "cpu") return cpu();
  if (text == "gpu_sim") return gpu_sim();
  if (text == "gpu") return gpu();
  constexpr std::string_view kPrefix = "gpu:";
  if (!text.starts_with(kPrefix)) return std::nullopt;
  int index = 0;
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data() + kPrefix.size(), last, index);
  if (error != std::errc() || end != last || index < 0 || index > 0xffff) return std::nullopt;
  return gpu(index);
}

[[noreturn]] void throw_no_device(const std::string& what, std::string_view text) {
  throw DeviceError(what + ": cpu, gpu_sim, gpu or gpu:N was expected, got " + std::string(text));
}

/// The reason why a device cannot be used, if there is one.
std::optional<std::string> why_not(Device device) {
  if (device.kind != Device::Kind::gpu)
    return device.index == 0 ? std::nullopt : std::optional<std::string>("there is one of its kind");
  const runtime::CudaDevices& all = runtime::cuda_devices();
  if (!all.problem.empty()) return all.problem;
  if (device.index >= 0 && static_cast<size_t>(device.index) < all.devices.size()) {
    const auto i = static_cast<size_t>(device.index);
    return all.devices[i] ? std::nullopt : std::optional(all.problems[i]);
  }
  const size_t n = all.devices.size();
  return "the driver shows " + std::to_string(n) + (n == 1 ? " GPU" : " GPUs");
}

}  // namespace

Device default_device() {
  const std::string& text = runtime::environment().device;
  if (text.empty()) return cpu();
  const auto device = device_named(text);
  if (!device) throw_no_device("CALQUE_DEVICE", text);
  return *device;
}

Device parse_device(std::string_view text) {
  const auto device = device_named(text);
  if (!device) throw_no_device("device", text);
  return *device;
}

std::vector<Device> devices() {
  std::vector<Device> all{cpu()};
  const auto& gpus = runtime::cuda_devices().devices;
  for (size_t i = 0; i < gpus.size(); ++i)
    if (gpus[i]) all.push_back(gpu(static_cast<int>(i)));
  all.push_back(gpu_sim());
  return all;
}

bool gpu_available() {
  const auto& gpus = runtime::cuda_devices().devices;
  return !gpus.empty() && gpus[0] != nullptr;
}

// Calls on the simulator are synchronous. A lost device does not prevent waiting for the others.
void synchronize() {
  const runtime::CudaDevices* const all = runtime::cuda_devices_in_use();
  if (all == nullptr) return;
  std::exception_ptr failure;
  for (const auto& device : all->devices) {
    if (!device) continue;
    try {
      device->synchronize();
    } catch (const DeviceError&) {
      if (!failure) failure = std::current_exception();
    }
  }
  if (failure) std::rethrow_exception(failure);
}

namespace detail {

void require_device(std::string_view operation, Device device, Location location) {
  const auto reason = why_not(device);
  if (!reason) return;
  throw DeviceError(std::string(operation) + ": device " + to_string(device) + " is not available, " + *reason +
                    where_text(location));
}

AnyArray copy_to_device(std::string_view operation, const AnyArray& array, Device device, Location location) {
  return runtime::device_api(device, operation, location).put(array);
}

}  // namespace detail

namespace runtime {

DeviceApi& device_api(Device device, std::string_view operation, Location location) {
  if (device.kind != Device::Kind::cpu) return kernel_device(device, operation, location);
  detail::require_device(operation, device, location);
  return host_device();
}

KernelDevice& kernel_device(Device device, std::string_view operation, Location location) {
  detail::require_device(operation, device, location);
  switch (device.kind) {
    case Device::Kind::gpu:
      return *cuda_devices().devices[static_cast<size_t>(device.index)];
    case Device::Kind::gpu_sim:
      return simulated_device();
    case Device::Kind::cpu:
      break;
  }
  throw DeviceError(std::string(operation) + ": device " + to_string(device) + " launches no kernels" +
                    where_text(location));
}

}  // namespace runtime
}  // namespace calque
