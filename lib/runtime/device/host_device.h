#pragma once
// The CPU behind the interface of a device. Calls are synchronous.
#include "runtime/device/device_api.h"

namespace calque::runtime {

DeviceApi& host_device();

}  // namespace calque::runtime
