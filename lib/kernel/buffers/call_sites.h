#pragma once
// Facts about the memory that the kernel calls of a program are bound to.
#include <vector>

#include "kernel/ir/program.h"

namespace calque::kernel {

/// The calls of each kernel, collected in one walk.
class CallSites {
 public:
  explicit CallSites(const Program& program);

  /// For each buffer of the kernel: whether some call binds it to memory that may overlap that of another buffer, and
  /// one of the two is written.
  std::vector<bool> overlaps(size_t kernel) const;

  /// For each buffer of the kernel its offset in the workspace, or -1 if it is not in the workspace or has no constant
  /// offset. Empty for a kernel of few buffers, and for one that several steps call.
  std::vector<int64_t> workspace_offsets(size_t kernel) const;

 private:
  void collect(const std::vector<Step>& steps);

  const Program& program_;
  std::vector<std::vector<const Step*>> calls_;  ///< by kernel
};

}  // namespace calque::kernel
