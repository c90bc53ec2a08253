#pragma once
// Reductions in device code.
#include "codegen/loops/accumulators.h"

namespace calque::codegen {

class DeviceMemory;
class ThreadGroup;

/// Each thread runs all of the reduction.
void emit_thread_reduction(KernelEmitter& kernel, const kernel::Instruction& i);

/// A reduction whose terms are distributed over the threads of a group.
class GroupReduction {
 public:
  GroupReduction(KernelEmitter& kernel, ThreadGroup& group, DeviceMemory& memory, const kernel::Instruction& i);
  void emit();

 private:
  /// The terms of the running thread, one at a time or in vectors.
  Values fold_strided();
  Values fold_vectors(unsigned lanes);
  /// All-reduce: every thread gets the combination over its group, or over its warp.
  Values combine_group(Values v);
  Values combine_warp(Values v);
  /// Combines the separate accumulators of a thread, if there are several.
  Values combine_separate(const Values& sums) const;

  KernelEmitter& k_;
  llvm::IRBuilder<>& b_;
  ThreadGroup& group_;
  DeviceMemory& memory_;
  const kernel::Instruction& i_;
  const Accumulators accumulators_;
  const int64_t separate_;  ///< accumulators of a thread
  const bool unrolled_;
};

}  // namespace calque::codegen
