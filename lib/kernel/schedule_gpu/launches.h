#pragma once
// One kernel as the launches that a GPU runs one after another: nothing else makes all threads of a grid wait for each
// other.
#include <vector>

#include "kernel/schedule_gpu/schedule_gpu.h"

namespace calque::kernel {

/// What a buffer of a launch is bound to: a buffer of the kernel, or memory that launches of the kernel share.
struct LaunchBuffer {
  int32_t buffer = -1;   ///< of the kernel
  int32_t scratch = -1;  ///< index into KernelLaunches::scratch
};

struct KernelLaunches {
  struct One {
    Kernel kernel;
    std::vector<LaunchBuffer> buffers;
  };
  std::vector<One> launches;
  std::vector<Type> scratch;
};

/// `changed`: by buffer, that the kernel writes its memory, perhaps through another buffer.
KernelLaunches split_into_launches(const Kernel& kernel, const std::vector<bool>& changed, const GpuLimits& limits);

}  // namespace calque::kernel
