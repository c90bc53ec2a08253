#pragma once
// `gpu_sim`: the simulator behind the interface of a device. What is asked for is done when the call returns.
#include "runtime/device/device_api.h"

namespace calque::runtime {

DeviceApi& simulated_device();

}  // namespace calque::runtime
