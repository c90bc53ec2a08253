// The devices of this version: the CPU, whose work is done when a call returns.
#include <string>

#include "calque/device.h"
#include "calque/ir/errors.h"

namespace calque {

std::vector<Device> devices() { return {cpu()}; }

bool gpu_available() { return false; }

void synchronize() {}

namespace detail {

void require_device(std::string_view operation, Device device, Location location) {
  if (device == cpu()) return;
  throw DeviceError(std::string(operation) + ": device " + to_string(device) +
                    " is not available, this version of calque computes on the CPU alone" + where_text(location));
}

}  // namespace detail
}  // namespace calque
