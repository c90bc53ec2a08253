#pragma once
// What is known of the memory that the calls of a program's kernels are bound to.
#include <vector>

#include "kernel/ir/program.h"

namespace calque::codegen {

/// The calls of each kernel, found once for all of them.
class CallSites {
 public:
  explicit CallSites(const kernel::Program& program);

  /// For each buffer of the kernel: whether some call of it binds the buffer to memory that another buffer of the call
  /// may touch, and one of the two is written.
  std::vector<bool> overlaps(size_t kernel) const;

  /// For each buffer of the kernel its offset in the workspace, or -1 where it is elsewhere or not always at the same
  /// one. Empty for a kernel of few buffers, and for one that several steps call.
  std::vector<int64_t> places_in_workspace(size_t kernel) const;

 private:
  void collect(const std::vector<kernel::Step>& steps);

  const kernel::Program& program_;
  std::vector<std::vector<const kernel::Step*>> calls_;  ///< by kernel
};

}  // namespace calque::codegen
