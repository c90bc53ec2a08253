#pragma once
// Cumulative loops in device code.
#include "codegen/loops/scan.h"

namespace calque::codegen {

class DeviceMemory;
class ThreadGroup;

/// A cumulative loop that the threads of a group run together.
class GroupScan {
 public:
  GroupScan(KernelEmitter& kernel, ThreadGroup& group, DeviceMemory& memory, const kernel::Instruction& i);
  void emit();

 private:
  /// The carries after a tile whose first iteration is `first`.
  Values tile(llvm::Value* first, const Values& carries);
  /// What one iteration contributes to each carry: the part of its body that does not depend on carries.
  Values contributions(llvm::Value* index);
  /// Inclusive scan: lane l gets the combination of lanes 0 to l.
  Values prefix_warp(Values v);
  /// The combination of the previous warps of the tile, and of all, from the inclusive prefixes of each warp.
  struct Warps {
    Values before, total;
  };
  Warps combine_warps(const Values& prefix);
  /// Runs the iteration, with what precedes it as carries.
  void run(llvm::Value* index, const Values& before);

  KernelEmitter& k_;
  llvm::IRBuilder<>& b_;
  ThreadGroup& group_;
  DeviceMemory& memory_;
  const kernel::Instruction& i_;
  const Accumulators accumulators_;
  const CumulativeBody body_;
  const Values identities_;
  Values slots_;  ///< by carry: shared memory of a value of each warp
};

}  // namespace calque::codegen
