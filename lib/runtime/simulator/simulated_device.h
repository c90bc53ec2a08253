#pragma once
// `gpu_sim`: the simulator behind the interface of a device. Calls are synchronous.
#include "runtime/device/device_api.h"

namespace calque::runtime {

KernelDevice& simulated_device();

}  // namespace calque::runtime
