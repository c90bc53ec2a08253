#pragma once
// Calls among processes on arrays in the memory of a device.
#include "calque/ir/collectives.h"

#include "primitives/control/collective_route.h"
#include "runtime/device/device_api.h"

namespace calque::runtime {

/// Runs the call as `primitives::run_collective`: submitted to the device's queue where the group takes it, else
/// through copies in host memory. Throws DeviceFailure, and what the group throws.
void run_collective(DeviceApi& api, const Opaque& group, const CollectiveCall& call, const void* operand, void* result);

/// For RouteCollectives: runs calls on arrays in host memory as those on arrays of the device, so that all ranks take
/// the same route.
primitives::RouteCollectives::Route route_through(DeviceApi& api);

}  // namespace calque::runtime
