#pragma once
// Which PTX a driver reads, and which architecture device code is made for on a GPU.
#include <string>

namespace calque::runtime {

/// The newest version of the PTX ISA that a driver of CUDA `version` (12040 is 12.4) reads: 84 is 8.4. Source: the
/// release notes of the PTX ISA, "PTX ISA release history".
int newest_ptx(int version);

/// The newest architecture that device code is made for, that a device of this compute capability runs and whose PTX
/// the driver reads; empty when the device is too old (below 8.0). What is made for sm_90a runs on 9.0 alone.
std::string ptx_arch(int major, int minor, int version);

}  // namespace calque::runtime
