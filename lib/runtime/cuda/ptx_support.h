#pragma once
// The PTX version that a driver accepts, and the architecture that device code is compiled for on a GPU.
#include <string>

namespace calque::runtime {

/// The newest version of the PTX ISA that a driver of CUDA `version` (12040 is 12.4) accepts: 84 is 8.4. Source: the
/// release notes of the PTX ISA, "PTX ISA release history".
int newest_ptx(int version);

/// The newest supported architecture that a device of this compute capability can run and whose PTX the driver accepts;
/// empty if the device is too old (below 8.0). Code for sm_90a runs on 9.0 only.
std::string ptx_arch(int major, int minor, int version);

}  // namespace calque::runtime
