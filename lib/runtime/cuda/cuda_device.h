#pragma once
// The GPUs that CUDA's driver reports, each behind the interface of a device.
#include <memory>
#include <string>
#include <vector>

#include "runtime/device/device_api.h"

namespace calque::runtime {

struct CudaDevices {
  std::vector<std::unique_ptr<KernelDevice>> devices;  ///< null: cannot be used
  std::vector<std::string> problems;                   ///< by device: why it cannot be used
  std::string problem;                                 ///< why there are none
  int driver_version = 0;                              ///< 12040 is 12.4
};

/// Opens the driver on first use. A device gets its context with its first work.
const CudaDevices& cuda_devices();
/// The same, but null before the first use.
const CudaDevices* cuda_devices_in_use();
/// Opens another driver library, independently of the default one.
CudaDevices open_cuda_devices(const std::string& library);

}  // namespace calque::runtime
