#pragma once
// The machine code that the driver compiles PTX to.
#include <string>

#include "runtime/cuda/cuda_driver.h"

namespace calque::runtime {

/// The cubin of a PTX text for the GPU of the current context, or nothing if the driver makes none.
std::string cubin_of(const cuda::Driver& driver, const std::string& ptx);

}  // namespace calque::runtime
