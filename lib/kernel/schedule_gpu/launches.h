#pragma once
// Splits one kernel into launches that a GPU runs one after another: the only synchronization of all threads of a grid.
#include <vector>

#include "kernel/schedule_gpu/schedule_gpu.h"

namespace calque::kernel {

/// The binding of a launch's buffer: a buffer of the kernel, or scratch memory shared by its launches.
struct LaunchBuffer {
  int32_t buffer = -1;   ///< of the kernel
  int32_t scratch = -1;  ///< index into KernelLaunches::scratch
};

/// The launch of a kernel that runs on one thread group, until its loops are mapped to threads. Kernels that run over
/// the grid have no launch before that.
inline constexpr Launch kOneGroup = {1, 1, 32};

struct KernelLaunches {
  struct Entry {
    Kernel kernel;
    std::vector<LaunchBuffer> buffers;
  };
  std::vector<Entry> launches;
  std::vector<Type> scratch;
};

/// `changed`: by buffer, whether the kernel writes its memory, possibly through another buffer.
KernelLaunches split_into_launches(const Kernel& kernel, const std::vector<bool>& changed, const GpuLimits& limits);

}  // namespace calque::kernel
